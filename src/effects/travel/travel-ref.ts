/** The ref at the remote that has the work of one claim. Only the host of the claim writes it. */
export function travelRef(taskId: string, epoch: number): string {
  return `${travelFolder(taskId)}${epoch}`;
}

/** The uncommitted work of the claim, as a commit on top of it. */
export function wipRef(taskId: string, epoch: number): string {
  return `${travelRef(taskId, epoch)}-wip`;
}

/** All refs of a task begin with this. */
function travelFolder(taskId: string): string {
  return `${TRAVEL_REFS}${encodeName(taskId)}/`;
}

/** The task of a ref of the remote; undefined for other refs. */
export function taskOfRef(ref: string): string | undefined {
  const [, name] = /^refs\/baton\/([^/]+)\/\d+(?:-wip)?$/.exec(ref) ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Commits of a local branch that the work on record does not have: never at the remote, never removed. */
export function keptRef(taskId: string, sha: string): string {
  return `${TRAVEL_REFS}kept/${encodeName(taskId)}/${sha.slice(0, 12)}`;
}

export const TRAVEL_REFS = 'refs/baton/';

/** One part of a ref's name: git refuses some characters, and a slash would make refs of one task a folder of another's. */
function encodeName(taskId: string): string {
  return encodeURIComponent(taskId)
    .replaceAll(/[~*]/g, percent)
    .replaceAll(/^\.|\.(?=\.)|\.(?=lock$)|\.$/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
