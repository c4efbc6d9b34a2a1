import type { Scene } from './record.ts';

/** A scene, and what it demonstrates. */
export interface NamedScene extends Scene {
  readonly title: string;
  readonly description: string;
}

/** A small library with a test, and no runbook. */
const LIBRARY = {
  'package.json': 'examples/sample/package.json',
  src: 'examples/sample/src',
  test: 'examples/sample/test',
};

/** The recordings, by file name. */
export const SCENES: Readonly<Record<string, NamedScene>> = {
  demo: {
    title: 'baton demo',
    description:
      'The command baton demo: a request goes through implementation, checks, review and validation to a merge. ' +
      'The stages change while agents work. At the end the record is verified.',
    columns: 100,
    rows: 30,
    typed: [['baton demo']],
  },
  init: {
    title: 'baton init',
    description:
      'The command baton init in a Node repository: it finds the tests and the agents, asks which agent to use, ' +
      'writes baton.toml, proves it with a dry run, and prints the next commands.',
    columns: 100,
    rows: 30,
    files: LIBRARY,
    typed: [['ls'], ['baton init', /\[1\]: $/], ['1']],
  },
  tasks: {
    title: 'One task, one owner, no "done" without a record',
    description:
      'Ada claims a task. Bob cannot claim it too. The task cannot be done before somebody records what was done. ' +
      'After the record, it is done, and the ledger is verified.',
    columns: 100,
    rows: 17,
    files: { 'record.json': 'examples/messages/thought-record.json' },
    before: ['sed -i "s/abc123[0-9a-f]*/$(git rev-parse HEAD)/" record.json', 'baton status'],
    typed: [
      ['baton task add P0.1.1 --title "Set the package up"'],
      ['baton task claim P0.1.1 --as ada > /dev/null'],
      ['baton task claim P0.1.1 --as bob'],
      ['baton task update P0.1.1 --status done'],
      ['baton task complete P0.1.1 record.json'],
      ['baton ledger verify'],
    ],
  },
  decision: {
    title: 'A question, its evidence, an answer',
    description:
      'A pipeline needs a person: its agent ended without a signal. The question is shown with its evidence ' +
      'and its options. After the answer, the pipeline continues to its end.',
    columns: 100,
    rows: 26,
    files: { 'baton.toml': 'examples/runbooks/release.toml' },
    before: ['baton status'],
    typed: [
      ['baton run release v1 > /dev/null'],
      ['baton decision review', /q to quit: $/],
      ['3', /none\): $/],
      ['I have read it myself'],
      ['baton status'],
    ],
  },
};
