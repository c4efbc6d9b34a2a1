/** What the page says to the daemon, and hears from it. The token goes nowhere else. */

/** The daemon answered, and said no. Whatever else goes wrong means that it is away. */
export class Refused extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

export function talkTo(token, project) {
  const headers = { authorization: `Bearer ${token}`, 'baton-project-path': encodeURI(project) };

  async function call(operation, input = {}) {
    const response = await fetch(`/v1/${operation}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const answer = await response.json();
    if (!answer.ok) throw new Refused(answer.error);
    return answer.result;
  }

  /** Entries as they are recorded, from the one after `after`, until the daemon goes; first none, when it listens. An EventSource cannot carry a token. */
  async function* events(after) {
    const response = await fetch('/v1/events', { headers: { ...headers, 'last-event-id': String(after) } });
    if (!response.ok) throw new Refused((await response.json()).error);
    yield [];
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const parts = (text + piece.value).split('\n\n');
      text = parts.pop() ?? '';
      const entries = parts.map(entryIn).filter((entry) => entry !== undefined);
      if (entries.length > 0) yield entries;
    }
  }

  return { call, events };
}

function entryIn(event) {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .join('');
  return data === '' ? undefined : JSON.parse(data);
}
