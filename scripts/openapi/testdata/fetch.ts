// Uses the client of OpenAPI Generator (typescript-fetch).
import assert from 'node:assert/strict';
import { Configuration, DocumentsApi, JobsApi, TranslationApi, type Job, type JobAnswer } from './fetch/index.ts';

const text = 'Where is the station?';
const configuration = new Configuration({ basePath: process.argv[2] });
const jobs = new JobsApi(configuration);
const documents = new DocumentsApi(configuration);

const answer = await new TranslationApi(configuration).translate({
  translationRequest: { payload: { fromLang: 'en', toLang: 'fr', records: [{ id: '1', text }] } },
});
const translation = answer.result[0]!.text;
assert.ok(translation && translation !== text, translation);

async function wait(job: Job): Promise<JobAnswer> {
  for (;;) {
    const answer = await jobs.getJob({ id: job.id });
    if (answer.job.state === 'done') return answer;
    assert.ok(answer.job.state === 'queued' || answer.job.state === 'running', answer.job.state);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const submitted = await jobs.submitJob({ jobRequest: { payload: { fromLang: 'en', toLang: 'fr', records: [{ id: '1', text }] } } });
const done = await wait(submitted.job);
assert.equal(done.result![0]!.text, translation);
console.log('ok: job');

const { job } = await documents.submitDocument({ file: new File([`${text}\n`], 'text.txt'), fromLang: 'en', toLang: 'fr' });
await wait(job);
const result = await documents.downloadDocument({ id: job.id });
assert.equal((await result.text()).trim(), translation);
console.log('ok: document');
