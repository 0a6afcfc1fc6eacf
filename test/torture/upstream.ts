import type { Behaviour, ReceivedRequest } from '../helper/behaviour.ts';
import type { Scope } from '../helper/scope.ts';
import { startScriptedProvider } from '../helper/scripted-provider.ts';

/** Which call it is, and how it is to be answered: headers that the gateway passes on. */
export const CALL_HEADER = 'x-torture-call';
export const BEHAVIOUR_HEADER = 'x-torture-behaviour';

export interface Upstream {
  readonly url: string;
  /** How often each call reached it, by CALL_HEADER. */
  readonly reached: ReadonlyMap<number, number>;
}

/** The demo provider, counting calls. `onFailpoint` is told which gateway's (by its credential) call came or was answered. */
export async function startUpstream(
  scope: Scope,
  onFailpoint: (point: 'asked' | 'answered', credential: string) => void,
): Promise<Upstream> {
  const reached = new Map<number, number>();
  const behave = ({ headers, ended }: ReceivedRequest): Behaviour | undefined => {
    const call = Number(headers[CALL_HEADER]);
    reached.set(call, (reached.get(call) ?? 0) + 1);
    const credential = String(headers.authorization).replace('Bearer ', '');
    onFailpoint('asked', credential);
    void ended.then((how) => how === 'answered' && onFailpoint('answered', credential));
    const told = headers[BEHAVIOUR_HEADER];
    return typeof told === 'string' ? (JSON.parse(told) as Behaviour) : undefined;
  };
  const provider = await startScriptedProvider({ behave, record: false });
  scope.teardown(() => provider.close());
  return { url: provider.url, reached };
}
