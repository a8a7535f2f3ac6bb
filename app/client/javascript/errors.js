// Errors of the client and of the service.

const temporary = new Set([
  'busy', 'not_ready', 'model_broken', 'stuck', 'broker_unavailable', 'shutting_down', 'rate_limited', 'too_many_jobs', 'jobs_unavailable',
  'glossaries_unavailable', 'memories_unavailable', 'too_many_sessions',
]);

// An error answer of the service.
export class DragomanError extends Error {
  name = 'DragomanError';

  constructor(message, { status = 0, code = '', field = '', requestId = '', retryAfter = 0 } = {}) {
    const prefix = [status || '', code].filter(Boolean).join(' ');
    super(`dragoman: ${prefix}${prefix && ': '}${message}${requestId && ` (request id ${requestId})`}`);
    Object.assign(this, { status, code, field, requestId, retryAfter });
  }

  // Whether the same request may succeed in a moment. The service's own timeout is not temporary: the request would take as long again.
  get temporary() {
    return temporary.has(this.code) || [429, 502, 503].includes(this.status) || (this.status === 504 && this.code !== 'timeout');
  }
}

// The answer does not belong to the request: not JSON, too large, other ids or another number of results.
export class InvalidAnswerError extends Error {
  name = 'InvalidAnswerError';
}

// There was no answer, or a part of one. The outcome of the request is unknown.
export class ConnectionBrokenError extends Error {
  name = 'ConnectionBrokenError';
}

// The job was cancelled.
export class JobCancelledError extends Error {
  name = 'JobCancelledError';
}

// serviceError returns the error of the service's form {code, message}; undefined for another value.
export function serviceError(value, more = {}) {
  if (typeof value?.code !== 'string') return undefined;
  return new DragomanError(String(value.message ?? ''), { ...more, code: value.code, field: String(value.field ?? '') });
}
