import { describe, expect, it } from 'vitest';
import { makeCommit, headOf } from '../../../test/postgres/make-commit.ts';
import { GENESIS } from '../format/chain.ts';
import type { Head } from '../store.ts';
import {
  announcementOf,
  joinAnnouncements,
  parseAnnouncement,
  PushedCommits,
  renderAnnouncement,
} from './pushed-commits.ts';

const first = makeCommit('demo', GENESIS, { n: 1, text: 'é "quoted" \\ \n' }, { n: 2 });
const second = makeCommit('demo', headOf(first), { n: 3 });
const third = makeCommit('demo', headOf(second), { n: 4 });
const heard = (...commits: (typeof first)[]) =>
  parseAnnouncement(renderAnnouncement(commits.map(announcementOf).reduce(joinAnnouncements)));

describe('the commits in a notification', () => {
  it('are the entries and the head, byte for byte', () => {
    expect(heard(first)?.head).toEqual(plainHead(headOf(first)));
    expect(heard(first)?.pushed).toEqual({ after: plainHead(GENESIS), entries: storedOf(first) });
    expect(heard(first, second)?.pushed?.entries).toEqual([...storedOf(first), ...storedOf(second)]);
  });

  it('are only the head if the entries are too large, or some are missing', () => {
    expect(heard(makeCommit('demo', GENESIS, { text: 'x'.repeat(9000) }))?.pushed).toBeUndefined();
    expect(heard(first, third)).toEqual({ head: plainHead(headOf(third)) });
  });

  it('are none if it cannot be parsed', () => {
    expect(parseAnnouncement('')).toBeUndefined();
    expect(parseAnnouncement('12 beef')).toBeUndefined();
    const [short = ''] = /^\S+ \S+/.exec(renderAnnouncement(announcementOf(first))) ?? [];
    for (const rows of ['[', '{}', '[["x","y",null]]', '[[1,2,3]]'])
      expect(parseAnnouncement(`${short} ${short} ${rows}`)).toEqual({ head: plainHead(headOf(first)) });
  });
});

describe('announced entries', () => {
  it('are taken once, as far as they follow without a gap', () => {
    const pushed = new PushedCommits();
    for (const commit of [first, second]) pushed.add(announcementOf(commit));
    expect(pushed.take(GENESIS)?.entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(pushed.take(GENESIS)).toBeUndefined();
    for (const commit of [first, third]) pushed.add(announcementOf(commit));
    expect(pushed.take(GENESIS)?.entries.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('are not used for another head', () => {
    const pushed = new PushedCommits();
    pushed.add(announcementOf(second));
    expect(pushed.take({ size: 2, hash: new Uint8Array(32) })).toBeUndefined();
  });
});

/** The entries as the database returns them: the last one has the checkpoint. */
function storedOf({ entries, checkpoint }: typeof first) {
  return entries.map(({ seq, hash, bytes }) => ({
    seq,
    hash: Buffer.from(hash),
    bytes: Buffer.from(bytes),
    ...(seq === checkpoint.size ? { note: checkpoint.note } : {}),
  }));
}

function plainHead({ size, hash }: Head): Head {
  return { size, hash: Buffer.from(hash) };
}
