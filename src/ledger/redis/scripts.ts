import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/**
 * Number of Redis keys of every script (undefined: the caller passes it). Each script's header documents keys, arguments
 * and replies.
 */
export const KEYS_OF = {
  admit: undefined,
  settle: undefined,
  cancel: undefined,
  expire: undefined,
  postOnce: undefined,
  publishKey: undefined,
  publishAccount: 2,
  beginRebuild: undefined,
  restoreKeys: undefined,
  restoreAccount: 2,
  limitStates: 2,
  takeRequest: 2,
} as const;

type Arg = string | number;

/** The scripts as methods: Redis keys first, then arguments, as each script's header says. */
export interface ScriptClient {
  /** For one call, like `settle`; ScriptSender sends several at once. */
  admit(keyCount: number, ...args: Arg[]): Promise<[number | [string, ...(string | number)[]]]>;
  settle(keyCount: number, ...args: Arg[]): Promise<[1 | 'NONE' | 'MISSING' | ['ERROR', string]]>;
  cancel(keyCount: number, ...args: Arg[]): Promise<'CANCELLED' | 'NONE' | 'MISSING'>;
  expire(keyCount: number, ...args: Arg[]): Promise<'EXPIRED' | 'FORGOTTEN' | 'KEPT' | 'MISSING'>;
  postOnce(
    keyCount: number,
    ...args: Arg[]
  ): Promise<['APPLIED' | 'DONE' | 'MISSING' | 'REBUILT' | 'HELD' | 'BEYOND', string?]>;
  publishKey(keyCount: number, ...args: Arg[]): Promise<unknown>;
  publishAccount(...args: Arg[]): Promise<unknown>;
  beginRebuild(keyCount: number, ...args: Arg[]): Promise<'CLOSED' | 'LIVE' | 'BUSY'>;
  restoreKeys(keyCount: number, ...args: Arg[]): Promise<'RESTORED' | 'OLD'>;
  restoreAccount(...args: Arg[]): Promise<'RESTORED' | 'OLD'>;
  limitStates(...args: Arg[]): Promise<string>;
  takeRequest(...args: Arg[]): Promise<'MISSING' | readonly [number, string]>;
}

const texts = new Map<string, string>();

/** Reads a script, once a process, and replaces `--- @include name` lines by `lua/<name>.inc.lua`. */
export function scriptText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8').replace(
      /^--- @include (\S+)$/gm,
      (_, include: string) => scriptText(`${include}.inc`),
    );
    texts.set(name, text);
  }
  return text;
}

/**
 * Defines the scripts on a client. They are sent by SHA, and whole only the first time on a connection or after SCRIPT
 * FLUSH.
 */
export function addScripts<C extends Redis | Cluster>(client: C): C & ScriptClient {
  for (const [name, numberOfKeys] of Object.entries(KEYS_OF)) {
    const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    client.defineCommand(name, { lua: scriptText(file), ...(numberOfKeys ? { numberOfKeys } : {}) });
  }
  return client as C & ScriptClient;
}
