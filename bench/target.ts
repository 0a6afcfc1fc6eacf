import type { Redis } from 'ioredis';
import type { CallRequest } from './call-request.ts';

/** Something that calls are sent through and measured at. */
export interface Target {
  readonly name: string;
  /** Calls are spread evenly over them. */
  readonly urls: readonly string[];
  /** Processes whose CPU and memory count; none: only its times are of interest. */
  readonly pids: readonly number[];
  /** It runs JavaScript, which is compiled bit by bit as it is used. */
  readonly isCompiledInUse?: boolean;
  /** The Redis that works for it. */
  readonly redis?: Redis;
  /** Where they differ from the profile's. */
  readonly requests?: readonly CallRequest[];
}
