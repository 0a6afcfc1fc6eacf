import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { failureOf } from '../upstream/failure.ts';
import type { JobFastifyRequest, JobRequest, JobRouteParts, OwnJob, UpstreamFile } from './job-request.ts';

/** A request for the content of a job, once it has been allowed. */
interface Download {
  readonly it: JobRequest;
  readonly job: OwnJob;
  readonly to: ReturnType<JobRequest['destination']>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on all routes but that of a job's content. */
    download: Download | null;
  }
}

/**
 * Registers the route of a job's content. The file passes through @fastify/http-proxy unread: the plugin sends the
 * request, streams the answer with back-pressure, and lets go of it if the client leaves.
 */
export function contentRoute(
  app: FastifyInstance,
  url: string,
  { transport, requestTimeoutMs }: Pick<JobRouteParts, 'transport' | 'requestTimeoutMs'>,
  requestFor: (request: JobFastifyRequest, reply: FastifyReply) => JobRequest,
): void {
  app.decorateRequest('download', null);
  const of = ({ download }: FastifyRequest): Download => {
    if (!download) throw new Error('a download without its job');
    return download;
  };
  const options = {
    routes: [url],
    httpMethods: ['GET'],
    // The plugin requires one; `getUpstream` has each job's.
    upstream: '',
    undici: transport,
    retryMethods: [],
    disableRequestLogging: true,
    // The parser that drops bodies stays.
    proxyPayloads: false,
    preHandler(request: JobFastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
      const it = requestFor(request, reply);
      it.job().then((job) => {
        const to = it.destination(job);
        transport.prepare(to);
        request.download = { it, job, to };
        done();
      }, done);
    },
    handler: (request: FastifyRequest, reply: FastifyReply, _destination: string, more: object) =>
      reply.from(of(request).to.path, more),
    replyOptions: {
      // Longest wait for the head of the answer, and for each part of it.
      timeout: requestTimeoutMs,
      getUpstream: (request: FastifyRequest) => of(request).to.origin,
      queryString: (_search: string, _url: string, request: FastifyRequest) => of(request).to.query,
      rewriteRequestHeaders: (request: FastifyRequest) => byName(of(request).to.headers),
      // The status decides which headers pass.
      rewriteHeaders: () => ({}),
      onResponse(request: FastifyRequest, _reply: FastifyReply, answer: UpstreamFile) {
        const { it, job } = of(request);
        it.pass(job, answer);
      },
      onError: (reply: FastifyReply, { error }: { readonly error: Error }) =>
        reply.send(failureOf((error.cause as Error | undefined) ?? error, false)[0]),
    },
  };
  // Its types are of another version of undici, and of HTTP/2 too.
  app.register(httpProxy, options as unknown as Parameters<typeof httpProxy>[1]);
}

/** Headers as an object, from names and values in turn. */
function byName(headers: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) named[headers[at] as string] = headers[at + 1] as string;
  return named;
}
