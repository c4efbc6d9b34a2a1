import type { RecordHint } from '../../streams/client-record.ts';

/** Where the client keeps its record of the conversation, as its hooks say; undefined if this one does not. */
export function parseRecordHint(body: Uint8Array): RecordHint | undefined {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = { ...JSON.parse(new TextDecoder().decode(body)) };
  } catch {
    return undefined;
  }
  const { transcript_path: path, session_id: conversation, tool_use_id: toolUse } = fields;
  if (typeof path !== 'string' || typeof conversation !== 'string') return undefined;
  return { path, conversation, toolUse: typeof toolUse === 'string' ? toolUse : undefined };
}
