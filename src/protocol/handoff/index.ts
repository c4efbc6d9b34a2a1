import { HANDOFF_DIALECT } from './dialect.ts';

export const parseHandoff = HANDOFF_DIALECT.parse;
export const validateHandoff = HANDOFF_DIALECT.validate;
export const renderHandoff = HANDOFF_DIALECT.render;
export const routeHandoff = HANDOFF_DIALECT.route;
export const handoffSchema = HANDOFF_DIALECT.schema;

export { createHandoffDialect, parseHandoffDialect, HANDOFF_DIALECT, type HandoffDialect } from './dialect.ts';
export { HANDOFF_STATUSES, type Edge as HandoffEdge, type Role as HandoffRole } from './edges.ts';
export { EDGES as HANDOFF_EDGES, ROLES as HANDOFF_ROLES, WORKFLOW_COMPLETE } from './edges.ts';
export type {
  Data as HandoffData,
  DataElement as HandoffDataElement,
  Element as HandoffElement,
  Elements as HandoffElements,
} from '../shape/shape.ts';
export {
  isHandoffOn,
  type BaseHandoff,
  type ErrorHandoff,
  type Handoff,
  type HandoffMessage,
  type HandoffOf,
  type WorkflowComplete,
} from './handoff.ts';
export { InvalidHandoff } from './handoff.ts';
export { findReportedError, isErrorHandoff, type ReportedError, summarizeError } from './reported-error.ts';
export type { Route as HandoffRoute } from './handoff.ts';
