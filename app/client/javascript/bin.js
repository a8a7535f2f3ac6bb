#!/usr/bin/env node
// Runs the program, which is in the package of this system.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const name = `@dragoman/${process.platform}-${process.arch}`;
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/dragoman${process.platform === 'win32' ? '.exe' : ''}`);
} catch {
  console.error(`dragoman: there is no package ${name}: install it beside dragoman, or dragoman without --omit=optional`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (err) => {
  console.error(`dragoman: ${program}: ${err.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
