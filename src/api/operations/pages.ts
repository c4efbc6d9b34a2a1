import { flag, list, nothing, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { operation } from './operation.ts';

const OF_FOLDER = { scope: 'state-folder' } as const;

const portMove = object({
  from: { ...whole, about: 'The old port.' },
  to: { ...whole, about: 'The new port.' },
  taken_by: { ...nullable(text), about: 'The process that has the old port; null if the system cannot tell.' },
  at: text,
});

const opened = object({
  url: { ...text, about: 'The address of the page, with a code that is valid for 60 seconds, once.' },
  code_expires_at: text,
  port: whole,
  daemon_key: { ...text, about: 'The Ed25519 key of the daemon, in base64url. The page trusts no other key.' },
  port_moved: { ...nullable(portMove), about: 'Set if another program took the port, until a page is opened.' },
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
      'Make an address of the page with a one-time code. The browser that opens it gets a key; with `editor`, `baton acp` gets one.',
    access: ['operator'],
    kind: 'write',
    tool: false,
    input: object({
      editor: {
        ...editorName,
        optional: true,
        about: 'The name of the editor that gets the key; it becomes a part of the name of the key.',
      },
    }),
    result: opened,
  }),
  ...OF_FOLDER,
};

const pageKey = object({
  key_id: text,
  name: { ...text, about: 'As in `page-3`.' },
  origin: { ...text, about: 'The address of the page to which the key belongs.' },
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
      'Revoke the key of a page or editor, or all keys. Requests with a revoked key are refused, and its event streams end.',
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
