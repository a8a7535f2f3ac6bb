// Counts what the clients' scripts check, for the table of clients in docs/front-ends.md: see checks.py.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';

export const base = process.argv[2].replace(/\/$/, '');
export const toy = process.argv.includes('toy');
const clients = new Map();
let row;

/** Counts the checks that follow for a client: its package, of npm where no version is given, and the API that it speaks. */
export function using(name, api, version) {
  const about = version ? {} : JSON.parse(readFileSync(`node_modules/${name}/package.json`)); // name may be an alias
  const found = version ?? about.version;
  const client = version ? name : `\`${about.name}\` (npm)`;
  const key = `${name} ${api}`;
  if (!clients.has(key)) clients.set(key, { api, client, version: found, checks: 0, result: 'failed' });
  row = clients.get(key);
}

/** Counts a check that holds; one that does not ends the run. */
export async function check(what, run) {
  try {
    await run();
  } catch (err) {
    err.message = `FAILED: ${what}: ${err.message}`;
    throw err;
  }
  row.checks++;
}

/** Checks a translation: exactly where the server is the toy. */
export function translated(source, got) {
  if (toy) assert.equal(got, source.toUpperCase());
  else assert.ok(got.trim() !== '' && got !== source, got);
}

/** Ends a run in which all checks held. */
export function report() {
  for (const each of clients.values()) each.result = 'passed';
}

process.on('exit', () => {
  for (const { api, client, version, checks, result } of clients.values()) {
    console.log(client, version, checks, result);
    if (process.env.RESULTS) appendFileSync(process.env.RESULTS, `${[api, client, version, checks, result].join('\t')}\n`);
  }
});
