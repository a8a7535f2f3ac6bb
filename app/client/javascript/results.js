// Results of requests, and checks that they belong to them.
import { DragomanError, InvalidAnswerError, serviceError } from './errors.js';

// resultOf returns a result of an answer. Where a request has one language it is not named.
export function resultOf(value, { langs, named }) {
  if (value?.error) {
    const error = serviceError(value.error) ?? new DragomanError('the service does not say why a record failed');
    value = { ...value, text: '', error };
  }
  if (typeof value?.id !== 'string' || typeof value.text !== 'string') throw new InvalidAnswerError('a result has no id or no text');
  return { ...value, toLang: named ? (value.toLang ?? '') : langs[0] };
}

// resultsOf returns the results of a request, in its order.
export function resultsOf(list, query) {
  const { ids, langs } = query;
  if (!Array.isArray(list) || list.length !== ids.length * langs.length) {
    throw new InvalidAnswerError(`there are ${list?.length ?? 0} results for ${ids.length} records × ${langs.length} languages`);
  }
  return list.map((value, i) => {
    const result = resultOf(value, query);
    const id = ids[i % ids.length];
    const to = langs[Math.floor(i / ids.length)];
    if (result.id !== id || result.toLang !== to) {
      throw new InvalidAnswerError(`result ${i} is of record ${result.id} in ${result.toLang}, expected ${id} in ${to}`);
    }
    return result;
  });
}
