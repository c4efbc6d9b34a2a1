/** Calls the daemon. The token is sent nowhere else, and every call has a deadline. */

/** The daemon answered, and refused. */
export class Refused extends Error {
  constructor({ code, message, hint }) {
    super(message);
    this.code = code;
    this.hint = hint ?? '';
  }
}

/** There is no answer, so the status is unknown. */
export class NoAnswer extends Error {
  /** @param {'hung' | 'away' | 'unreadable'} how */
  constructor(how) {
    super(how);
    this.how = how;
  }
}

const ANSWER_MS = 4000;
/** The daemon sends a line every 15 seconds on a stream of events. */
const STREAM_MS = 40_000;

export function talkTo(token, project) {
  const headers = { authorization: `Bearer ${token}`, 'baton-project-path': encodeURI(project) };

  async function call(operation, input = {}) {
    const request = { method: 'POST', headers, body: JSON.stringify(input), signal: AbortSignal.timeout(ANSWER_MS) };
    const answer = await attempt(async () => (await fetch(`/v1/${operation}`, request)).text());
    return resultIn(answer);
  }

  /** Yields entries after `after` as they are recorded, until the daemon ends; the first value is empty and marks the open stream. An EventSource cannot send a token. */
  async function* events(after) {
    const deadline = makeDeadline();
    try {
      const request = { headers: { ...headers, 'last-event-id': String(after) }, signal: deadline.signal };
      deadline.set(ANSWER_MS);
      const response = await attempt(async () => fetch('/v1/events', request));
      if (!response.ok) resultIn(await attempt(async () => response.text()));
      yield [];
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        deadline.set(STREAM_MS);
        const piece = await attempt(async () => reader.read());
        if (piece.done) return;
        const parts = (text + piece.value).split('\n\n');
        text = parts.pop() ?? '';
        const entries = parts.map(entryIn).filter((entry) => entry !== undefined);
        if (entries.length > 0) yield entries;
      }
    } finally {
      deadline.end();
    }
  }

  return { call, events };
}

/** Aborts after its time, unless it is restarted before. */
function makeDeadline() {
  const controller = new AbortController();
  let timer;
  return {
    signal: controller.signal,
    set(ms) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new DOMException('too late', 'TimeoutError')), ms);
    },
    end() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

async function attempt(run) {
  try {
    return await run();
  } catch (error) {
    throw new NoAnswer(error?.name === 'TimeoutError' ? 'hung' : 'away');
  }
}

/** A response in any other form is not an answer of the daemon. */
function resultIn(text) {
  const answer = parse(text);
  if (answer?.ok === true && 'result' in answer) return answer.result;
  if (answer?.ok === false && typeof answer.error === 'object') throw new Refused(answer.error);
  throw new NoAnswer('unreadable');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function entryIn(event) {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .join('');
  return data === '' ? undefined : parse(data);
}
