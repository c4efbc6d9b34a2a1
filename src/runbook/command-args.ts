/** What a command of the runbook takes: `args = "<title> [body] --dry-run [--priority <n>]"`. */
export interface CommandArgs {
  /** As it was written, for usage lines. */
  readonly text: string;
  readonly positionals: readonly { readonly name: string; readonly required: boolean }[];
  readonly options: readonly CommandOption[];
}

export interface CommandOption {
  /** Without the dashes. As a variable it has the same name. */
  readonly name: string;
  /** What its value is called; null for a switch, which is `true` or empty. */
  readonly value: string | null;
  readonly required: boolean;
}
