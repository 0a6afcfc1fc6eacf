import { createHash } from 'node:crypto';
import type { Upstream } from '../../domain/catalog.ts';
import type { Upload } from '../request/spool/spool.ts';

/** A cloud gave no credential, so nothing was sent to the provider. */
export class NoCloudCredential extends Error {
  constructor(cause: unknown) {
    super(`no credential of the cloud: ${(cause as Error).message}`, { cause });
  }
}

/** A request to be sent. */
interface UnsignedRequest {
  readonly method: string;
  readonly origin: string;
  /** Including its query. */
  readonly path: string;
  readonly body: Buffer | Upload | undefined;
}

/**
 * Whether an upstream's requests are signed or use an exchanged token. A credential in the configuration is sent
 * directly.
 */
export function isOfCloud({ auth, apiKey }: Upstream): boolean {
  return apiKey === '' && (auth === 'google' || auth === 'aws');
}

/**
 * Headers, name and value in turn, that authenticate a request to a cloud. The vendor's library finds the credentials
 * in the environment and is loaded at the first call. Rejects with NoCloudCredential.
 */
export async function cloudHeaders({ auth }: Upstream, request: UnsignedRequest): Promise<string[]> {
  try {
    if (auth === 'aws') {
      signer ??= openSigner();
      return await (await signer)(request);
    }
    tokens ??= openTokens();
    return ['authorization', `Bearer ${await (await tokens)()}`];
  } catch (error) {
    throw new NoCloudCredential(error);
  }
}

let tokens: Promise<() => Promise<string>> | undefined;
let signer: Promise<(request: UnsignedRequest) => Promise<string[]>> | undefined;

/** Tokens of the application default credentials; the library renews them before they expire. */
async function openTokens(): Promise<() => Promise<string>> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  return async () => {
    const token = await auth.getAccessToken();
    if (!token) throw new Error('there is no token');
    return token;
  };
}

/** Host of a regional service: `bedrock-runtime.eu-west-1.amazonaws.com`. */
const REGIONAL = /^[a-z-]+\.([a-z0-9-]+)\.amazonaws\.com$/;

/** Signs requests (AWS Signature Version 4) with the default chain's credentials. */
async function openSigner(): Promise<(request: UnsignedRequest) => Promise<string[]>> {
  const [{ SignatureV4 }, { fromNodeProviderChain }, { Sha256 }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-sdk/credential-providers'),
    import('@aws-crypto/sha256-js'),
  ]);
  const credentials = fromNodeProviderChain();
  return async ({ method, origin, path, body }) => {
    const { hostname, port, host, protocol } = new URL(origin);
    const region = REGIONAL.exec(hostname)?.[1] ?? process.env.AWS_REGION ?? 'us-east-1';
    const [pathname = '', query = ''] = path.split('?', 2);
    const signature = new SignatureV4({ service: 'bedrock', region, credentials, sha256: Sha256 });
    const signed = await signature.sign({
      method,
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: pathname,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: { host, 'x-amz-content-sha256': await sha256Of(body) },
    });
    return Object.entries(signed.headers).flatMap(([name, value]) => (name === 'host' ? [] : [name, value]));
  };
}

async function sha256Of(body: Buffer | Upload | undefined): Promise<string> {
  const hash = createHash('sha256');
  if (Buffer.isBuffer(body)) hash.update(body);
  else if (body) for await (const piece of body) hash.update(piece);
  return hash.digest('hex');
}
