/** The commands with `--json` that succeed only in a project on PostgreSQL. */
export const FLEET_COMMANDS: ReadonlySet<string> = new Set([
  'store init',
  'store compare',
  'store accept',
  'store login',
  'store repair',
  'host admit',
  'host drain',
  'host remove',
  'host remote',
]);
