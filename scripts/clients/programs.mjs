// Runs published programs and libraries for JavaScript against a server, beside those of clients.mjs: node programs.mjs BASE_URL [toy].
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as agents from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as payload from '@justanarthur/payload-plugin-translator/resolvers/openAI';
import * as payloadLibre from '@justanarthur/payload-plugin-translator/resolvers/libreTranslate';
import { translate } from 'libretranslate';
import { base, check, report, toy, translated, using } from './checks.mjs';

// Payload's bundler finds modules without their ending.
register(`data:text/javascript,${encodeURIComponent("export const resolve = (name, context, next) => next(/^[.].*[/][^.]*$/.test(name) ? name + '.js' : name, context);")}`);
const enchants = await import('@payload-enchants/translator/resolvers/openAI');

const texts = ['Good morning.', 'Thank you.'];

async function libreTranslate() {
  using('libretranslate', 'LibreTranslate');
  for (const apiurl of [base, `${base}/`]) {
    await check('libretranslate', async () => translated(texts[0], await translate({ query: texts[0], source: 'en', target: 'fr', apiurl, apiKey: 'some' })));
  }
  await check('libretranslate of HTML', async () =>
    assert.match(await translate({ query: '<p>Good <b>morning</b>.</p>', target: 'fr', format: 'html', apiurl: base }), /^<p>.*<b>.*<\/b>.*<\/p>$/));
}

// The plugins of Payload, a content management system, have resolvers, which need nothing of it but a log.
async function plugins() {
  const logged = [];
  const log = (line) => logged.push(line);
  const req = { payload: { logger: { error: log, info: log, warn: log } } };
  const resolvers = {
    '@payload-enchants/translator': [enchants.openAIResolver({ apiKey: 'none', baseUrl: base })],
    '@justanarthur/payload-plugin-translator': [payload.openAIResolver({ apiKey: 'none', baseUrl: base }), payloadLibre.libreResolver({ apiKey: '', url: `${base}/translate` })],
  };
  for (const [name, each] of Object.entries(resolvers)) {
    for (const resolver of each) {
      using(name, { libre: 'LibreTranslate', openai: 'OpenAI' }[resolver.key]);
      await check(`${name} by ${resolver.key}`, async () => {
        const answer = await resolver.resolve({ localeFrom: 'en', localeTo: 'fr', req, texts });
        assert.ok(answer.success, JSON.stringify(logged));
        assert.equal(answer.translatedTexts.length, texts.length);
        texts.forEach((text, i) => translated(text, answer.translatedTexts[i]));
      });
    }
  }
}

// Agents speak the protocol's version of 2025 or of 2026, without sessions.
async function contextProtocol() {
  const connected = {
    '@modelcontextprotocol/sdk': [[new Client({ name: 'test', version: '1' }), StreamableHTTPClientTransport]],
    '@modelcontextprotocol/client': ['legacy', 'auto'].map((mode) =>
      [new agents.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } }), agents.StreamableHTTPClientTransport, mode === 'auto' ? '2026-07-28' : '2025-11-25']),
  };
  for (const [name, clients] of Object.entries(connected)) {
    for (const [client, Transport, version] of clients) {
      using(name, 'Model Context Protocol');
      await check(`${name} connects`, async () => {
        await client.connect(new Transport(new URL(`${base}/mcp`)));
        if (version) assert.equal(client.getNegotiatedProtocolVersion(), version);
        assert.equal((await client.listTools()).tools.length, 4);
      });
      for (const args of [{ texts: texts.slice(0, 1), to: 'fr' }, { texts: texts[0], to: 'French', from: null }]) {
        await check(`${name} translates`, async () => {
          const { structuredContent, isError } = await client.callTool({ name: 'translate', arguments: args });
          assert.ok(!isError);
          translated(texts[0], structuredContent.translations[0].text);
        });
      }
      await check(`${name} refuses`, async () => {
        const { content, isError } = await client.callTool({ name: 'translate', arguments: { to: 'fr' } });
        assert.ok(isError && content[0].text.includes('needs texts'), JSON.stringify(content));
      });
      await client.close();
    }
  }
}

// i18n-ai-translate translates a file of a program's texts in two modes, whose prompts differ, with a context and with a glossary.
async function localization() {
  using('i18n-ai-translate', 'OpenAI');
  const folder = await mkdtemp(path.join(tmpdir(), 'dragoman-clients-'));
  const file = (name) => path.join(folder, name);
  const source = { hello: texts[0], more: { thanks: texts[1], read: 'Read "this" now.' } };
  if (!toy) source.more.count = 'You have {{n}} messages.\nRead them.'; // the toy changes names of variables
  await writeFile(file('en.json'), JSON.stringify(source));
  await writeFile(file('terms.json'), JSON.stringify({ doNotTranslate: ['Acme'], terms: { fr: { you: 'vous' } } }));
  for (const mode of ['json', 'csv']) {
    for (const more of [[], ['--context', 'a shop in Paris'], ['--glossary', file('terms.json')]]) {
      await check(`i18n-ai-translate, ${mode} ${more}`, async () => {
        await rm(file('fr.json'), { force: true });
        const run = ['translate', '-i', file('en.json'), '-o', 'fr', '-e', 'chatgpt', '-m', 'dragoman', '-k', 'none', '-r', '1', '--prompt-mode', mode,
          '--skip-translation-verification', ...(mode === 'csv' ? ['--skip-styling-verification'] : []), ...more];
        const { stdout, stderr } = await promisify(execFile)(path.resolve('node_modules/.bin/i18n-ai-translate'), run, { cwd: folder, env: { ...process.env, OPENAI_BASE_URL: `${base}/v1` } });
        const got = JSON.parse(await readFile(file('fr.json'), 'utf8').catch(() => assert.fail(stdout + stderr)));
        assert.deepEqual(Object.keys(got.more ?? {}).sort(), Object.keys(source.more).sort(), stdout + stderr);
        translated(texts[0], got.hello);
        if (!toy) assert.match(got.more.count, /\{\{n\}\}.*\n/);
        else assert.equal(got.more.thanks, more[0] === '--glossary' ? 'THANK vous.' : 'THANK YOU.');
      });
    }
  }
  await rm(folder, { recursive: true });
}

await libreTranslate();
await plugins();
await contextProtocol();
await localization();
report();
