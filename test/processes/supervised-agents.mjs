import { readFileSync, writeFileSync } from 'node:fs';
import { Expectations, parsePacket } from './given.mjs';
import { commit, handOn, readTask } from './hand-on.mjs';

/**
 * Roles of a workflow that check the texts of the person and the other roles, and fail their session if something is
 * missing.
 */
const words = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'));
const CODE = 'src/parse-duration.js';
const task = readTask();
const packet = parsePacket(task);
const expects = new Expectations();
const from = /The handoff to you, from ([\w-]+)/.exec(task)?.[1];

const roles = {
  'issue-manager': () => {
    expects.has(packet, 'Notes and answers from people', words.person, words.begin);
    expects.end();
    handOn('prep-agent', words.issue, { type: 'feature', priority: 'high', requirement: words.requirement });
  },
  implementer: () => {
    expects.has(packet, 'Goal', '', words.requirement);
    expects.has(packet, 'Notes and answers from people', words.person, words.ready);
    expects.end();
    write('minutes');
    handOn('reviewer-agent', words.implemented, { tests_added: '2', files_changed: '7', coverage: '96%' });
  },
  fixer: () => fixes[from](),
  reviewer: () => {
    expects.has(packet, 'Notes and answers from people', words.person, words.approved);
    expects.has(packet, 'Reported and measured', 'Baton (measurement)', 'reported in the handoff: commits_added 1');
    expects.holds('what was fixed', from === 'fixer-agent' && task.includes(words.fixed));
    expects.end();
    if (readFileSync(CODE, 'utf8').includes('throw')) handOn('validator-agent', words.reviewed, {});
    else handOn('fixer-agent', words.finding, { location: `${CODE}:2`, severity: 'critical' });
  },
};

const fixes = {
  'ci-gate': () => {
    expects.has(packet, 'Failed checks and merges', 'Baton (ci)', words.output);
    expects.has(packet, 'Reported and measured', 'Baton (measurement)', 'reported in the handoff: files_changed 7');
    fix('hours');
  },
  operator: () => {
    // A finding, and a person's note.
    expects.has(packet, 'Notes and answers from people', words.person, words.sentBack);
    expects.holds('the note in the handoff', task.includes(`<failure type="person">${words.sentBack}</failure>`));
    fix('hours and seconds');
  },
  'reviewer-agent': () => {
    expects.holds('the finding', task.includes(`severity="critical">${words.finding}</issue>`));
    fix('hours and seconds, or throw');
  },
};

function fix(text) {
  expects.end();
  write(text);
  handOn('reviewer-agent', words.fixed, { location: `${CODE}:1` });
}

function write(text) {
  writeFileSync(CODE, `// ${text}\n`);
  commit(`feat: ${text}`);
}

roles[process.argv[2]]();
