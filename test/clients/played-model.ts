import { basename } from 'node:path';
import { parseResult } from '../../src/protocol/result.ts';
import { fieldsInJson } from '../../src/protocol/shape/read-unknown.ts';
import { says, type Asked, type Reply, type Script } from '../models/script.ts';
import type { Hands } from './played-hands.ts';

/**
 * A model that plays the roles of the built-in workflow by following their prompts: it finds its role in the prompt,
 * reads its mission, works with the client's own tools, fills in the prepared forms, and hands on. Like a real model,
 * it derives its progress only from the conversation.
 */
export function playModel(hands: Hands): Script {
  return Array.from({ length: MOST_TURNS }, () => (asked) => play(asked, hands));
}

const MOST_TURNS = 200;

/** The first words of the built-in prompts. */
export const PROMPTS = {
  'issue-manager': 'You turn a request into an issue',
  implementer: 'You implement one task',
  reviewer: 'You review one change',
  fixer: 'You fix what a review, a check or a merge found wrong',
} as const;

export type PlayedRole = keyof typeof PROMPTS;

/** The role of a conversation; undefined if the prompt is not one of Baton's. */
export function roleIn({ messages }: Asked): PlayedRole | undefined {
  const prompt = messages.find(({ text }) => Object.values(PROMPTS).some((words) => text.includes(words)));
  const [role] = Object.entries(PROMPTS).find(([, words]) => prompt?.text.includes(words) === true) ?? [];
  return role as PlayedRole | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function play(asked: Asked, hands: Hands): Reply {
  const role = roleIn(asked);
  if (role === undefined) return says('I do not know who I am.');
  const done = asked.messages.filter((message) => message.role === 'model').length;
  const turn = TURNS[role](new Memory(asked, hands))[done];
  return turn === undefined ? says('There is nothing left to do.') : turn();
}

type Turns = readonly (() => Reply)[];

/** The prefix of the tests' keys. */
export const KEY_PREFIX = 'key-of-test-';
const SEARCH = `{ cat /proc/*/environ; cd /; grep -rah ${KEY_PREFIX} "$HOME" "$TMPDIR" /run "$BATON_STATE_DIR"; } 2>/dev/null | grep -aoE '${KEY_PREFIX}[0-9a-z-]+' | sort -u`;

const CODE = 'src/parse-duration.js';
const TEST = 'test/parse-duration.test.js';

const TURNS: Readonly<Record<PlayedRole, (memory: Memory) => Turns>> = {
  'issue-manager': (memory) => [
    memory.looks,
    () => memory.shell('ls; cat src/*.js'),
    ...memory.fillsIn('handoff-to-prep-agent.xml', 'Durations can be read back', {
      type: 'feature',
      priority: 'high',
      requirement: 'parseDuration("1h 30m") is 5400000',
    }),
    () => memory.shell('baton handoff send .baton/session/handoff-to-prep-agent.xml'),
    () => memory.shell(memory.exit()),
    () => says('The issue is written.'),
  ],
  implementer: (memory) => [
    memory.looks,
    () => memory.hands.write(memory.path(CODE), FIRST_CODE),
    () => memory.hands.write(memory.path(TEST), FIRST_TEST),
    () => memory.shell('node --test'),
    () => memory.shell("git add --all && git commit --quiet -m 'feat: parseDuration reads what formatDuration writes'"),
    // The agent forgets to hand on, and is reminded.
    () => says('Done: parseDuration is there, with tests.'),
    () => memory.shell('git rev-parse HEAD'),
    ...memory.submits([
      ['created', CODE],
      ['created', TEST],
    ]),
    ...memory.handsOn('reviewer-agent', 'parseDuration reads what formatDuration writes', {
      tests_added: '2',
      files_changed: '2',
    }),
    () => says('Handed on to the reviewer.'),
  ],
  reviewer: (memory) => {
    const isStrict = memory.task.includes('+  if (!/');
    const found = 'An invalid duration returns NaN instead of an error';
    return [
      memory.looks,
      ...(memory.hands.findsTools ?? []).map((reply) => () => reply),
      () => memory.hands.tool('task_check', {}),
      ...(isStrict
        ? memory.sends('validator-agent', 'It does what the issue asks', {})
        : memory.sends('fixer-agent', found, { location: `${CODE}:3`, severity: 'critical' })),
      () => says('Reviewed.'),
    ];
  },
  fixer: (memory) => [
    memory.looks,
    () => memory.hands.read(memory.path(CODE)),
    () => memory.hands.edit(memory.path(CODE), LOOSE, `${GUARD}${LOOSE}`),
    () => memory.shell(`cat >> ${TEST} <<'END'\n${STRICT_TEST}END\nnode --test`),
    () => memory.shell("git commit --quiet --all -m 'fix: text that is no duration is an error'; git rev-parse HEAD"),
    ...memory.submits([
      ['modified', CODE],
      ['modified', TEST],
    ]),
    ...memory.handsOn('reviewer-agent', 'Text that is no duration is an error', {
      location: `${CODE}:3`,
      tests_added: '1',
    }),
    () => says('Mended.'),
  ],
};

/** The conversation so far. */
class Memory {
  readonly hands: Hands;
  readonly task: string;
  readonly #results: readonly string[];

  constructor({ messages }: Asked, hands: Hands) {
    this.hands = hands;
    this.#results = messages.flatMap(({ role, text }) => (role === 'tool' ? [hands.outputIn(text)] : []));
    this.task = this.#results[0] ?? '';
  }

  shell(command: string): Reply {
    return this.hands.shell(command);
  }

  /**
   * Reads the mission, the task file and the working directory at once, and everything that looks like a key, wherever
   * it can be read.
   */
  readonly looks = (): Reply => this.shell(`pwd; cat "$BATON_MISSION" .baton/session/task.md; ${SEARCH}`);

  path(file: string): string {
    return `${this.task.split('\n', 1)[0]}/${file}`;
  }

  exit(): string {
    return /^baton emit exit '.*'$/m.exec(this.task)?.[0] ?? 'false';
  }

  /** Submits the result and, if there is a commit, the record. */
  submits(files: readonly (readonly [action: string, path: string])[]): Turns {
    const listed = files.map(([action, path]) => `  - path: ${path}\n    action: ${action}\n`).join('');
    const modified = files.length === 0 ? 'files_modified: []' : `files_modified:\n${listed.trimEnd()}`;
    const result = (form: string): string => form.replace('files_modified: []', modified);
    const record = (form: string): string =>
      form
        .replace(/commit_sha: .*/, `commit_sha: ${this.#head()}`)
        .replace('tests_run: []', 'tests_run: [node --test]')
        .replace('files_changed: []', `files_changed: [${files.map(([, path]) => path).join(', ')}]`);
    return [
      ...this.#writes('result.yaml', result),
      () => this.shell('baton result submit .baton/session/result.yaml'),
      ...(files.length === 0
        ? []
        : [
            ...this.#writes('record.yaml', record),
            () => this.shell('baton thought record .baton/session/record.yaml'),
          ]),
    ];
  }

  /** Sends the verdict with Baton's tools, with the whole content as arguments. */
  sends(to: string, summary: string, values: Values): Turns {
    return [
      () => {
        const result = parseResult(this.#form('result.yaml').replaceAll('FILL IN', 'So'));
        return result.ok ? this.hands.tool('result_submit', result.value) : says(JSON.stringify(result.problems));
      },
      () => {
        const handoff = fill(this.#form(`handoff-to-${to}.xml`), { sha: this.#head(), ...values }, summary);
        return this.hands.tool('handoff_send', { handoff });
      },
      () =>
        this.hands.tool('exit_signal', fieldsInJson(/\{"protocol":"apm2_agent_exit".*?\}/.exec(this.task)?.[0] ?? '')),
    ];
  }

  /** Sends the handoff and the exit signal. */
  handsOn(to: string, summary: string, values: Values): Turns {
    const file = `handoff-to-${to}.xml`;
    return [
      ...this.fillsIn(file, summary, values),
      () => this.shell(`baton handoff send .baton/session/${file}`),
      () => this.shell(this.exit()),
    ];
  }

  fillsIn(file: string, summary: string, values: Values): Turns {
    return this.#writes(file, (form) => fill(form, { sha: this.#head(), ...values }, summary));
  }

  /** The client refuses to overwrite a file that was not read before. */
  #writes(file: string, change: (form: string) => string): Turns {
    const path = `.baton/session/${file}`;
    return [
      () => this.hands.read(this.path(path)),
      () => this.hands.write(this.path(path), change(this.#form(file)).replaceAll('FILL IN', 'So')),
    ];
  }

  #form(file: string): string {
    const [, after = ''] = this.task.split(`### ${basename(file)}\n`);
    return /^```\w+\n(.*?)^```$/ms.exec(after)?.[1] ?? '';
  }

  #head(): string {
    return this.#results.findLast((text) => /^[0-9a-f]{40}$/.test(text.trim()))?.trim() ?? '0'.repeat(40);
  }
}

type Values = Readonly<Record<string, string>>;

/** Fills in the values of elements and attributes, by name. */
function fill(form: string, values: Values, summary: string): string {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) =>
      text
        .replaceAll(new RegExp(`<${name}>[^<]*<`, 'g'), `<${name}>${value}<`)
        .replaceAll(new RegExp(`${name}="[^"]*"`, 'g'), `${name}="${value}"`),
    form,
  );
  return filled.replaceAll('FILL IN', summary);
}

const LOOSE = `  return text`;
const GUARD = '  if (!/^\\d+[hms]( \\d+[hms])*$/.test(text)) throw new RangeError(`no duration: ${text}`);\n';

const FIRST_CODE = `const SIZES = { h: 3_600_000, m: 60_000, s: 1000 };

/** What formatDuration writes, back to milliseconds. */
export function parseDuration(text) {
  return text
    .split(' ')
    .map((part) => Number(part.slice(0, -1)) * SIZES[part.slice(-1)])
    .reduce((sum, ms) => sum + ms, 0);
}
`;

const FIRST_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration } from '../src/format-duration.js';
import { parseDuration } from '../src/parse-duration.js';

test('minutes and seconds are read', () => {
  assert.equal(parseDuration('2m 5s'), 125_000);
});

test('what is written is read back', () => {
  assert.equal(parseDuration(formatDuration(5_400_000)), 5_400_000);
});
`;

const STRICT_TEST = `
test('text that is no duration is an error', () => {
  assert.throws(() => parseDuration('soon'), RangeError);
});
`;
