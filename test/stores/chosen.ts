/**
 * Whether test worlds use PostgreSQL (BATON_TEST_STORE=postgres) instead of SQLite. They then share the database that
 * the run started (`test/package/global-setup.ts`): projects of one database are isolated, so a new one serves as a new
 * database. Tests about SQLite's file itself, its locks, pages and disk, are skipped then, because on PostgreSQL that
 * file is a replica.
 */
export const isPostgres: boolean = process.env['BATON_TEST_STORE'] === 'postgres';

/** The URL of the shared database; empty with SQLite. */
export const STORE_URL: string = isPostgres ? (process.env['BATON_TEST_STORE_URL'] ?? '') : '';

/** Variables that make a daemon, started by a test or by a client, use the selected store. */
export const STORE: Readonly<Record<string, string>> = isPostgres ? { BATON_STORE: STORE_URL } : {};
