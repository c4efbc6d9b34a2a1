import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What a scripted session received, and checks of it: if something is missing, the session exits with `error` and names
 * it. Tests put this file beside their agents' scripts.
 */
export const SESSION = '.baton/session';

export function read(name) {
  return readFileSync(`${SESSION}/${name}`, 'utf8');
}

/**
 * Parses a packet into texts about the task, `{entry, author, title, text}` by section, and everything outside of
 * fences.
 */
export function parsePacket(markdown) {
  const items = [];
  let [section, outside, fence] = ['', '', null];
  for (const line of markdown.split('\n')) {
    const item = items.at(-1);
    if (line === fence) fence = null;
    else if (fence !== null) item.text += `${line}\n`;
    else if (/^`{3,}\w*$/.test(line)) {
      fence = /^`+/.exec(line)[0];
      // A fence without an item, such as the goal, belongs to its section.
      if (item?.section !== section) items.push({ section, author: '', title: '', text: '' });
    } else {
      outside += `${line}\n`;
      const heading = /^## (.*)$/.exec(line);
      const found = /^- entry (\d+), (.*?): (.*)$/.exec(line);
      if (heading) section = heading[1];
      if (found) items.push({ section, entry: Number(found[1]), author: found[2], title: found[3], text: '' });
    }
  }
  return { items, outside };
}

/** Collects missing texts. `end` fails the session if there are any. */
export class Expectations {
  #missing = '';

  holds(what, isTrue) {
    if (!isTrue) this.#missing += `${what} | `;
  }

  /** Checks that each text is in its section, fenced, with its author and entry. */
  has({ items }, section, author, ...texts) {
    for (const text of texts)
      this.holds(
        `${section}, by ${author}: ${text}`,
        items.some((each) => each.section === section && each.author === author && each.text.includes(text)),
      );
  }

  /** Checks that the texts occur in this order. */
  inOrder(what, text, ...parts) {
    let at = 0;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      this.holds(`${what}: ${part} after ${at}`, found >= 0);
      at = Math.max(at, found);
    }
  }

  end() {
    if (this.#missing !== '') fail(`not given: ${this.#missing}`);
  }
}

function fail(notes) {
  const phase = /Phase: (\w+)/.exec(read('task.md'))?.[1] ?? '';
  baton('emit', 'exit', exitSignal(phase, 'error', { notes: notes.slice(0, 5000) }));
  process.exit(1);
}

// An uncaught error of the script also fails the session.
process.once('uncaughtException', ({ stack }) => fail(String(stack)));

export function exitSignal(phase_completed, exit_reason, more = {}) {
  return JSON.stringify({ protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason, ...more });
}

export function baton(...args) {
  const { status, stdout, stderr } = spawnSync('baton', args, { encoding: 'utf8' });
  process.stdout.write(stderr);
  if (status !== 0) process.exit(1);
  return stdout;
}
