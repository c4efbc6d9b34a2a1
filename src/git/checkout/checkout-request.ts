import type { ObjectFormat } from '../own/own-repository.ts';
import type { GitResult, OwnGitFolder } from '../run-git.ts';

export interface CheckoutRequest {
  readonly sha: string;
  /** The commit of the main branch whose `.gitattributes` files say how files are written. */
  readonly base: string;
  /** Names of the filters that the operator allowed. */
  readonly filters: readonly string[];
  /** The main branch as it is now: its name, and where submodules may come from. */
  readonly main: CopiedRef;
  readonly stateDir: string;
  /** How many submodules this one lies in. */
  readonly depth?: number;
}

/** A repository of Baton's own that a checkout is made from. */
export interface CheckoutSource extends OwnGitFolder {
  readonly format: ObjectFormat;
  readonly objects: string;
  /** The git folder of the user's repository, if this is a copy of it: clones of its submodules are in there. */
  readonly source?: { readonly commonDir: string };
}

export interface CopiedRef {
  /** `HEAD`, or the name of a branch. */
  readonly name: string;
  readonly sha: string;
}

export type MakeCheckout = (
  own: CheckoutSource,
  request: CheckoutRequest,
  folder: string,
) => Promise<GitResult<string>>;
