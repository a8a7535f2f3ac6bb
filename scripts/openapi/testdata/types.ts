// Uses the types of openapi-typescript with openapi-fetch.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

const text = 'Where is the station?';
const client = createClient<paths>({ baseUrl: process.argv[2]! });
const records = [{ id: '1', text }];

const { data: answer, error } = await client.POST('/translation', { body: { payload: { fromLang: 'en', toLang: 'fr', records } } });
assert.ok(answer, JSON.stringify(error));
const translation = answer.result[0]!.text;
assert.ok(translation && translation !== text, translation);

async function wait(id: string): Promise<components['schemas']['JobAnswer']> {
  for (;;) {
    const { data } = await client.GET('/jobs/{id}', { params: { path: { id } } });
    assert.ok(data);
    if (data.job.state === 'done') return data;
    assert.ok(data.job.state === 'queued' || data.job.state === 'running', data.job.state);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const { data: submitted } = await client.POST('/jobs', { body: { payload: { fromLang: 'en', toLang: 'fr', records } } });
const done = await wait(submitted!.job.id);
assert.equal(done.result![0]!.text, translation);
console.log('ok: job');

const { data: document } = await client.POST('/documents', {
  body: { file: 'text.txt', fromLang: 'en', toLang: 'fr' },
  bodySerializer: (fields) => {
    const form = new FormData();
    form.set('file', new File([`${text}\n`], 'text.txt'));
    for (const name of ['fromLang', 'toLang'] as const) form.set(name, (fields as { fromLang: string; toLang: string })[name]);
    return form;
  },
});
await wait(document!.job.id);
const { data: result } = await client.GET('/documents/{id}/result', { params: { path: { id: document!.job.id } }, parseAs: 'text' });
assert.equal(result!.trim(), translation);
console.log('ok: document');
