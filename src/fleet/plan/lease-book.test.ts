import { describe, expect, it } from 'vitest';
import { keepLeases, type LeaseBook, noteAnswer, noteGrant, remainingMs } from './lease-book.ts';

const claim = { taskId: 'T1', epoch: 2 };

describe('how long a host may let its agents work', () => {
  it('is a full expiry after the claim was granted, counted from before the commit', () => {
    const book = granted(1000);
    expect(remainingMs(book, claim, 1000)).toBe(60_000);
    expect(remainingMs(book, claim, 70_000)).toBe(0);
  });

  it('grows with each renewal that the database acknowledged, counted from when the beat was sent', () => {
    const book = granted(0);
    noteAnswer(book, [{ ...claim, remainingMs: 55_000 }], { refused: [] }, 20_000);
    expect(remainingMs(book, claim, 25_000)).toBe(50_000);
  });

  it('does not grow by a renewal that was refused or never answered', () => {
    const book = granted(0);
    noteAnswer(book, [{ ...claim, remainingMs: 55_000 }], { refused: [claim] }, 20_000);
    expect(remainingMs(book, claim, 25_000)).toBe(35_000);
  });

  it('is never shortened by an answer that comes late', () => {
    const book = granted(20_000);
    noteAnswer(book, [{ ...claim, remainingMs: 55_000 }], { refused: [] }, 10_000);
    expect(remainingMs(book, claim, 20_000)).toBe(60_000);
  });

  it('is unknown for another epoch, and dropped when the claim ends', () => {
    const book = granted(0);
    expect(remainingMs(book, { ...claim, epoch: 3 }, 0)).toBeUndefined();
    keepLeases(book, []);
    expect(remainingMs(book, claim, 0)).toBeUndefined();
  });
});

function granted(sentMs: number): LeaseBook {
  const book: LeaseBook = new Map();
  noteGrant(book, claim, sentMs, 60_000);
  return book;
}
