/**
 * The content of `/etc/passwd` inside, or undefined if the outside file suffices. As root, the session has another user
 * id; and users of a directory service are not in the file, while the service's socket is hidden.
 */
export function passwdInside(outside: string, uid: number, home: string): string | undefined {
  if (uid !== 0 && hasId(outside, uid)) return undefined;
  const id = uid === 0 ? 1000 : uid;
  return `${withoutId(outside, id)}baton:x:${id}:${id}:Baton session:${home}:/bin/sh\n`;
}

/** The content of `/etc/group` inside, or undefined if the outside file suffices. */
export function groupInside(outside: string, gid: number): string | undefined {
  if (gid !== 0 && hasId(outside, gid)) return undefined;
  const id = gid === 0 ? 1000 : gid;
  return `${withoutId(outside, id)}baton:x:${id}:\n`;
}

function hasId(text: string, id: number): boolean {
  return text.split('\n').some((line) => line.split(':')[2] === String(id));
}

function withoutId(text: string, id: number): string {
  const lines = text.split('\n').filter((line) => line !== '' && line.split(':')[2] !== String(id));
  return lines
    .filter((line) => !line.startsWith('baton:'))
    .map((line) => `${line}\n`)
    .join('');
}
