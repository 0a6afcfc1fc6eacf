import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Smaller answers hardly shrink. */
const LEAST_BYTES = 1_024;
/** Answers up to this size are compressed at once, in a fraction of a millisecond; larger ones in a thread. */
const MOST_BYTES_AT_ONCE = 16 * 1024;
/** Window of brotli and zstd, as a power of two. Their own, of megabytes, would be kept for each client that reads slowly. */
const WINDOW_BITS = 18;

const JSON_TYPE = 'application/json';

/**
 * Compresses the JSON answers of the routes registered in this scope, if the client accepts it. Exports pass as they
 * are, because a compressor would hold back their lines, and so do answers to HEAD.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    encodings: ['br', 'gzip', 'zstd'],
    threshold: LEAST_BYTES,
    syncThreshold: MOST_BYTES_AT_ONCE,
    brotliOptions: { params: { [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS } },
    zlibOptions: { params: { [constants.ZSTD_c_windowLog]: WINDOW_BITS } } as object,
    // speakJson refuses bodies that are compressed.
    globalDecompression: false,
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // The plugin has no other way to leave out a type that is known to compress well.
    if (!String(reply.getHeader('content-type')).startsWith(JSON_TYPE))
      request.headers['x-no-compression'] = '1';
    done(null, payload);
  });
}
