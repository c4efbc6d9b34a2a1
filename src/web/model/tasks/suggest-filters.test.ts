import { describe, expect, it } from 'vitest';
import { suggestFilters } from './suggest-filters.ts';

const known = { role: ['reviewer', 'fixer'], holder: ['ann lee', 'bob'] };

describe('suggestions for the filter', () => {
  it('completes keys, and keeps what was typed before', () => {
    expect(suggestFilters('ledger st', known)).toEqual(['ledger status:']);
    expect(suggestFilters('-c', known)).toEqual(['-claimable:', '-critical:']);
    expect(suggestFilters('', known)).toHaveLength(9);
  });

  it('completes values', () => {
    expect(suggestFilters('status:b', known)).toEqual(['status:blocked']);
    expect(suggestFilters('x phase:REVIEW', known)).toEqual(['x phase:review']);
    expect(suggestFilters('role:', known)).toEqual(['role:reviewer', 'role:fixer']);
    expect(suggestFilters('holder:a', known)).toEqual(['holder:"ann lee"']);
    expect(suggestFilters('after:', known)).toEqual([]);
  });

  it('has nothing to add to a quoted text or an unknown key', () => {
    expect(suggestFilters('"st', known)).toEqual([]);
    expect(suggestFilters('color:r', known)).toEqual([]);
  });
});
