/**
 * Earlier versions whose ledgers must still open: the last commit before each change of the entries or their tables. A
 * release adds its own commit.
 */
export const VERSIONS: Readonly<Record<string, string>> = {
  'before-runbooks': 'b75e47ea',
  'before-budgets': 'b38b7e1e',
  'before-gates': '594f141c',
  'before-one-table-of-entries': '9fbb5a36',
  'before-the-context-packet': 'b31c7778',
  'before-the-sandbox': 'b458234c',
  'before-the-fleet': '06d38094',
  'before-the-page': 'affe15d7',
  'before-acp': 'bc9d6ca2',
  'before-verdicts': '43f5f214',
  'before-numbers': 'd097f493',
};

/**
 * The hash of this version's entry types, without their descriptions. After a change, add one more row above: add the last commit with the old
 * entries, run `node scripts/record-upgrades.ts NAME`, and then write the new hash here. A second change for the same
 * release needs only the new hash.
 */
export const ENTRIES_SINCE_LAST_VERSION = '3af9d2026fe6d26f';
