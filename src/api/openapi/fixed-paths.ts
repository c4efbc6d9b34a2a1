import { answered, header, json, object, refusals } from './shared.ts';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;

/** The paths that are not operations. Leaves out those of the page, of channels and of MCP, which are not plain calls. */
export const FIXED_PATHS = {
  '/v1/health': {
    get: {
      operationId: 'health',
      tags: ['daemon'],
      summary: 'Whether the daemon runs, and whether it can record',
      description: 'Answers at once, even if a database is locked.',
      responses: {
        200: answered(
          object({
            version: text,
            pid: count,
            started: { ...text, format: 'date-time' },
            state_dir: text,
            requests: { ...count, description: 'How many requests the daemon is answering.' },
            writable: { type: 'boolean', description: 'False if some project cannot record anything.' },
            stores: {
              type: 'array',
              description: 'For operators: the projects that cannot record.',
              items: object({ project: text, writable: { const: false }, since: text, reason: text, hint: text }),
            },
          }),
        ),
        ...refusals(),
      },
    },
  },
  '/v1/openapi.json': {
    get: {
      operationId: 'openapi',
      tags: ['daemon'],
      summary: 'This document',
      parameters: [header('version')],
      responses: { 200: { description: 'An OpenAPI document.', content: json({ type: 'object' }) }, ...refusals() },
    },
  },
  '/v1/events': {
    get: {
      operationId: 'events',
      tags: ['daemon'],
      summary: 'The entries of the ledger as server-sent events',
      description: 'Sends the entries after `last-event-id`, and then each new entry when it is durable.',
      parameters: [header('project'), header('last'), header('version')],
      responses: {
        200: { description: 'One event for each entry.', content: { 'text/event-stream': { schema: text } } },
        ...refusals(),
      },
    },
  },
  '/v1/deliver': {
    post: {
      operationId: 'deliver',
      tags: ['daemon'],
      summary: 'Deliver the kept messages of the outbox now',
      parameters: [header('version')],
      responses: {
        200: answered(object({ delivered: count, refused: count, waiting: count })),
        ...refusals(),
      },
    },
  },
  '/v1/worker-token': {
    post: {
      operationId: 'worker_token',
      tags: ['daemon'],
      summary: 'Make a worker token for a principal',
      'x-baton-callers': ['operator'],
      parameters: [header('version')],
      requestBody: { required: true, content: json(object({ principal: text })) },
      responses: { 200: answered(object({ principal: text, token: text })), ...refusals() },
    },
  },
  '/v1/stop': {
    post: {
      operationId: 'stop',
      tags: ['daemon'],
      summary: 'Stop the daemon',
      description: 'Answers when everything is closed. Agents continue without the daemon.',
      'x-baton-callers': ['operator'],
      responses: {
        200: answered(object({ pid: count, agents: { ...count, description: 'How many agents continue.' } })),
        ...refusals(),
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      tags: ['daemon'],
      summary: 'Metrics as Prometheus text',
      description: 'Takes the token in `metrics.token` of the state folder, or the token of the operator.',
      responses: {
        200: { description: 'The metrics.', content: { 'text/plain': { schema: text } } },
        ...refusals(),
      },
    },
  },
} as const;
