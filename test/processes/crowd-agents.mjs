import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { commit, git, handOn, readTask } from './hand-on.mjs';

/**
 * Agents that conflict with each other: each task adds a word to the same line of the same file, and the tests limit
 * the number of words by another file. Each branch alone is fine; two together conflict or fail.
 */
const WORDS = 'src/words.js';
const LIMIT = 'src/limit.js';
const word = /^ *Add (\w+)/m.exec(readTask())?.[1] ?? '';

const roles = {
  'issue-manager': () => handOn('prep-agent', `The word ${word}`, { type: 'feature', priority: 'low' }),
  implementer: () => {
    write([...words(), word]);
    commit(`feat: ${word}`);
    handOn('reviewer-agent', `Added ${word}`, { tests_added: '0' });
  },
  reviewer: () => handOn('validator-agent', 'It has the word', {}),
  fixer: () => {
    const mine = words();
    try {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', 'merge', '--quiet', '--no-edit', 'main'], {
        stdio: 'ignore',
      });
    } catch {
      // After a conflict, both sides are known.
    }
    const theirs = read(git('show', `main:${WORDS}`));
    write([...new Set([...theirs, ...mine])]);
    commit(`fix: ${word} beside the others`);
    handOn('reviewer-agent', 'Both are there', { location: `${WORDS}:1` });
  },
};

function words() {
  return read(readFileSync(WORDS, 'utf8'));
}

function read(text) {
  return [...text.matchAll(/'(\w+)'/g)].map(([, each]) => each);
}

function write(list) {
  writeFileSync(WORDS, `export const words = [${list.map((each) => `'${each}'`).join(', ')}];\n`);
  writeFileSync(LIMIT, `export const limit = ${list.length};\n`);
}

roles[process.argv[2]]();
