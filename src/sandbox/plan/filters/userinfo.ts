/**
 * Removes user names and passwords from all addresses in a text. A name without a password stays only for ssh, where it
 * is not secret. A password with an unescaped slash makes an address that no program accepts, but the password is still
 * there to remove.
 */
export function withoutUserinfo(text: string): string {
  return text.replace(
    /([a-z][a-z0-9+.-]*:)(\/\/+)([^\s"'<>`]*)/gi,
    (_, scheme: string, slashes: string, rest: string) => {
      const authority = /^[^/?#\\]*/.exec(rest)?.[0] ?? '';
      const end = hasBadPort(authority) ? rest.lastIndexOf('@') : authority.lastIndexOf('@');
      const isSshName = /ssh:$/i.test(scheme) && !rest.slice(0, end).includes(':');
      return end < 0 || isSshName ? `${scheme}${slashes}${rest}` : `${scheme}${slashes}${rest.slice(end + 1)}`;
    },
  );
}

/**
 * Reports whether the port is not a number, as in `user:pa` of `user:pa/ss@host`. A placeholder such as `${PORT}` may
 * stand for digits.
 */
function hasBadPort(authority: string): boolean {
  return !authority.includes('@') && /:(?!\d*$)/.test(authority.replace(/^\[[^\]]*\]/, ''));
}

/** Removes user names and passwords from a proxy's address, which may lack `http://`. */
export function withoutProxyUserinfo(value: string): string {
  return /^["']?[a-z][a-z0-9+.-]*:\/\//i.test(value.trim()) ? withoutUserinfo(value) : value.replace(/[^\s"']*@/g, '');
}

/** Names of settings that hold a credential in any tool. */
export function isSecretName(name: string): boolean {
  return /pass(?:w|$|-|_|phrase|code)|passwd|token|secret|oauth|api-?_?key|credential|private-?_?key|cookie|extraheader/i.test(
    name,
  );
}
