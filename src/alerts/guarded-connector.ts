import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import type { Resolve } from './resolve.ts';

/**
 * Thrown where the receiver's host is, or resolves to, an address outside the public internet. Nothing was sent to it.
 */
export class BlockedAddress extends Error {}

/**
 * Connector that reaches public addresses only (specification section 6, SSRF). A name is resolved once, and only the
 * addresses that were checked are connected to, so that a name which changes its answer between check and connect (DNS
 * rebinding) gains nothing. A name with one address that is not public is refused. TLS certificates are verified
 * whatever the environment says; HTTP/1.1 only. `signal` ends the attempt at any stage.
 */
export function guardedConnector(
  resolve: Resolve,
  allowPrivateNetworks: boolean,
  signal: AbortSignal,
): buildConnector.connector {
  const refused = (addresses: string[]) => !allowPrivateNetworks && !addresses.every(isPublicAddress);
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, signal).then(
      (found) => {
        const [first] = found;
        if (!first) callback(new Error(`no address for ${hostname}`), []);
        else if (refused(found.map(({ address }) => address))) callback(new BlockedAddress(), []);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };
  const connect = buildConnector({ lookup, signal, rejectUnauthorized: true, allowH2: false, timeout: 0 });
  return (options, callback) => {
    // A literal address is never looked up. The URL parser has already turned 127.1, 0x7f000001 and the like into
    // 127.0.0.1.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && refused([literal])) callback(new BlockedAddress(), null);
    else connect(options, callback);
  };
}
