// What Holdfast writes log lines to: four methods that take facts and a message, as pino's do. A logger given by a caller
// is checked once and wrapped, so that one that throws cannot break what it was told about (S12).
import { invalid, shown } from '../domain/errors.js';

export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const nothing = (): void => undefined;

export const silentLogger: Logger = Object.freeze({ debug: nothing, info: nothing, warn: nothing, error: nothing });

/** The caller's logger, wrapped so that its methods never throw; refused when one is missing. */
export function checkLogger(value: unknown): Logger {
  const given = value as Logger | null | undefined;
  const missing = LEVELS.filter((level) => typeof given?.[level] !== 'function');
  if (!given || missing.length > 0) {
    throw invalid(
      `logger must have the methods debug, info, warn and error(facts, message), as pino() has; ` +
        `${shown(value)} lacks ${missing.join(', ')}`,
    );
  }
  const quietly = (level: (typeof LEVELS)[number]) => {
    return (facts: object, message: string): void => {
      try {
        given[level](facts, message);
      } catch {
        // A log line that cannot be written is lost; there is nowhere left to say so.
      }
    };
  };
  return { debug: quietly('debug'), info: quietly('info'), warn: quietly('warn'), error: quietly('error') };
}
