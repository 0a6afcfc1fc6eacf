import { type Logger, pino } from 'pino';

/**
 * Opens the log of the program on stdout: JSON lines, or coloured text where stdout is a terminal (NO_COLOR turns the
 * colours off). pino-pretty, which makes the text, is loaded only for a terminal.
 */
export async function openLog(level: string): Promise<Logger> {
  const options = { level, base: null };
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  // Synchronous, so that the last lines before an exit are not lost; a terminal needs no speed.
  return pino(options, pretty({ sync: true, destination: 1, translateTime: 'SYS:HH:MM:ss.l' }));
}
