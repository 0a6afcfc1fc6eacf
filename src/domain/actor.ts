/** Who makes a change, for the audit log. */
export interface Actor {
  /** `operator`: ADMIN_TOKEN, or the command line; `system`: the gateway itself. */
  readonly type: ActorType;
  /** Of the person or key. */
  readonly id: number | null;
  readonly ip: string | null;
  readonly requestId: string | null;
}

export const ACTOR_TYPES = ['person', 'key', 'operator', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export const SYSTEM: Actor = Object.freeze({ type: 'system', id: null, ip: null, requestId: null });

/** The operator at the command line. */
export const COMMAND_LINE: Actor = Object.freeze({ type: 'operator', id: null, ip: null, requestId: null });
