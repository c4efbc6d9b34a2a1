/** The remote ref with the work of one claim. Only the claim's host writes it. */
export function travelRef(taskId: string, epoch: number): string {
  return `${travelFolder(taskId)}${epoch}`;
}

/** The ref with the uncommitted files of the claim, as a commit on top of its work. */
export function wipRef(taskId: string, epoch: number): string {
  return `${travelRef(taskId, epoch)}-wip`;
}

/** The prefix of all refs of a task. */
function travelFolder(taskId: string): string {
  return `${TRAVEL_REFS}${encodeName(taskId)}/`;
}

/** The task of a remote ref; undefined for other refs. */
export function taskOfRef(ref: string): string | undefined {
  const [, name] = /^refs\/baton\/([^/]+)\/\d+(?:-wip)?$/.exec(ref) ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The ref for commits of a local branch that the recorded work lacks. It is never pushed and never removed. */
export function keptRef(taskId: string, sha: string): string {
  return `${TRAVEL_REFS}kept/${encodeName(taskId)}/${sha.slice(0, 12)}`;
}

export const TRAVEL_REFS = 'refs/baton/';

/** Encodes one part of a ref's name: git refuses some characters, and a slash would nest refs of several tasks. */
function encodeName(taskId: string): string {
  return encodeURIComponent(taskId)
    .replaceAll(/[~*]/g, percent)
    .replaceAll(/^\.|\.(?=\.)|\.(?=lock$)|\.$/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
