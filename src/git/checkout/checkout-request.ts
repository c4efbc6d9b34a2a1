import type { ObjectFormat } from '../own/own-repository.ts';
import type { GitResult, OwnGitFolder } from '../run-git.ts';

export interface CheckoutRequest {
  readonly sha: string;
  /** The commit of the main branch whose `.gitattributes` files decide how files are written. */
  readonly base: string;
  readonly filters: readonly string[];
  /** The current main branch: its name, and the allowed sources of submodules. */
  readonly main: CopiedRef;
  readonly stateDir: string;
  readonly depth?: number;
}

export interface CheckoutSource extends OwnGitFolder {
  readonly format: ObjectFormat;
  readonly objects: string;
  /** The git folder of the user's repository, if this is a copy of it; it contains the clones of submodules. */
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
