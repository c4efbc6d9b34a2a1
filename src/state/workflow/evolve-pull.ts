import type { EventOf } from '../event.ts';
import type { PullRequest } from './flow.ts';

type PullEvent =
  | EventOf<'PullRequestRequested'>
  | EventOf<'PullRequestPublished'>
  | EventOf<'PullRequestFailed'>
  | EventOf<'PullRequestCloseRequested'>
  | EventOf<'PullRequestClosed'>;

/** (pull request, entry) → pull request. One that was asked for again, with a new head, is still the same. */
export function evolvePull(pull: PullRequest | null, { type, data }: PullEvent): PullRequest | null {
  switch (type) {
    case 'PullRequestRequested': {
      const { pull_id: id, repository, remote, head } = data;
      const known = pull?.repository === repository ? pull : UNPUBLISHED;
      return { ...known, id, repository, remote, head, isWanted: true };
    }
    case 'PullRequestPublished': {
      const { pull_id, number, url, head } = data;
      if (pull?.id !== pull_id) return pull;
      return { ...pull, number, url, published: head, isWanted: false, isClosed: false };
    }
    case 'PullRequestFailed':
      return pull?.id === data.pull_id ? { ...pull, isWanted: false } : pull;
    case 'PullRequestCloseRequested':
      // Whoever wants it back before it is closed must find it open in any case.
      return pull?.number === data.number ? { ...pull, isClosed: true } : pull;
    case 'PullRequestClosed':
      return pull?.number === data.number ? { ...pull, isClosed: data.outcome === 'closed' } : pull;
  }
}

const UNPUBLISHED = { published: null, number: null, url: null, isClosed: false } as const;
