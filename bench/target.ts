import type { Redis } from 'ioredis';
import type { CallRequest } from './call-request.ts';

/** A program to send calls through and measure. */
export interface Target {
  readonly name: string;
  /** Calls are spread evenly. */
  readonly urls: readonly string[];
  /** Processes whose CPU and memory count; if none, only times are measured. */
  readonly pids: readonly number[];
  /** It runs JavaScript, which is compiled gradually in use. */
  readonly isCompiledInUse?: boolean;
  /** The Redis that works for it. */
  readonly redis?: Redis;
  /** Its own requests, if they differ from the profile's. */
  readonly requests?: readonly CallRequest[];
}
