import type { CallRequest } from './call-request.ts';
import type { Peer } from './options.ts';
import type { Target } from './target.ts';
import { MODEL } from './wire.ts';

/** The other gateway as a target: the same calls, with its own headers and model name. */
export function peerTarget(peer: Peer, requests: readonly CallRequest[]): Target {
  return {
    name: `peer ${new URL(peer.url).host}`,
    urls: [peer.url],
    pids: peer.pid === undefined ? [] : [peer.pid],
    // It may well be.
    isCompiledInUse: true,
    requests: requests.map((request) => peerRequest(peer, request)),
  };
}

/** Without Tollgate's key, which another program must not see. */
export function peerRequest({ headers, model }: Peer, request: CallRequest): CallRequest {
  const { authorization: _key, ...others } = request.headers;
  const body = model === undefined ? request.body : request.body.replace(MODEL, () => model);
  return { ...request, headers: { ...others, ...headers }, body };
}
