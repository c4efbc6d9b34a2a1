export function Said(_: {
  readonly agentId?: string;
  readonly taskId: string | undefined;
  readonly epoch: number | undefined;
}) {
  return <p>said</p>;
}
