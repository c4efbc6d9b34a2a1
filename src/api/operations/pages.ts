import { flag, list, nothing, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { operation } from './operation.ts';

const OF_FOLDER = { scope: 'state-folder' } as const;

const portMove = object({
  from: whole,
  to: whole,
  taken_by: { ...nullable(text), about: 'The process that has the old port; null if the system cannot tell.' },
  at: text,
});

const opened = object({
  url: { ...text, about: 'The address of the page, with a code that is valid for 60 seconds, once.' },
  code_expires_at: text,
  port: whole,
  daemon_key: { ...text, about: 'The Ed25519 key of the daemon, in base64url: the page trusts no other.' },
  port_moved: { ...nullable(portMove), about: 'Set after another program took the port, until a page was opened.' },
});
export type OpenedPage = ValueOf<typeof opened>;

/** Part of the name of a key, as in `acp-zed-2`. */
export const editorName = {
  kind: 'text',
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$',
  expected: 'small letters, digits and `-`, at most 32',
} as const;

export const pageOpen = {
  ...operation({
    name: 'page_open',
    about:
      'Make the address at which the page opens, with a one-time code. A browser that opens it gets a key of its own; with `editor`, `baton acp` does.',
    access: ['operator'],
    kind: 'write',
    tool: false,
    input: object({
      editor: { ...editorName, optional: true, about: 'The editor that gets the key, which is named after it.' },
    }),
    result: opened,
  }),
  ...OF_FOLDER,
};

const pageKey = object({
  key_id: text,
  name: text,
  origin: text,
  created_at: text,
  last_used_at: nullable(text),
});
export type PageKeyView = ValueOf<typeof pageKey>;

export const pageKeys = {
  ...operation({
    name: 'page_keys',
    about: 'List the keys of pages and editors that act for the operator, oldest first.',
    access: ['operator'],
    tool: false,
    input: nothing,
    result: object({ keys: list(pageKey) }),
  }),
  ...OF_FOLDER,
};

export const pageKeyRevoke = {
  ...operation({
    name: 'page_key_revoke',
    about:
      'Revoke the key of a page or editor, or all of them. Its requests are refused from now on, and its event streams end.',
    access: ['operator'],
    kind: 'write',
    tool: false,
    input: object({
      name: optional(text, 'The name of the key, or its id.'),
      all: optional(flag, 'Revoke every key.'),
    }),
    result: object({ revoked: list(object({ key_id: text, name: text })) }),
  }),
  ...OF_FOLDER,
};
