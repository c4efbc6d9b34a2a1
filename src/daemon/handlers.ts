export const HANDLERS: ReadonlyMap<string, import('./handler.ts').Handler> = new Map();
