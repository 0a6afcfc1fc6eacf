import type { ServerResponse } from 'node:http';
import type { Answer, Piece } from './answer.ts';

/** Writes the answer piece by piece, no faster than the client reads. Ends early where the client has left. */
export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  for (const piece of answer.pieces) {
    if (response.destroyed) return;
    await writePiece(response, piece);
  }
  response.end();
}

/** Writes a piece; resolves when the client takes more, or has left. */
export async function writePiece(response: ServerResponse, piece: Piece): Promise<void> {
  if (response.write(piece)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
