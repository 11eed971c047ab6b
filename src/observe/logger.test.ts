// The logger: what counts as one, and that a broken one breaks nothing else.
import { expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { checkLogger, silentLogger, type Logger } from './logger.js';

const nothing = (): void => undefined;

test('a logger with pino’s four methods is used, with itself as `this`', () => {
  class Lines {
    readonly lines: string[] = [];
    debug(_facts: object, message: string): void {
      this.lines.push(`debug ${message}`);
    }
    info(_facts: object, message: string): void {
      this.lines.push(`info ${message}`);
    }
    warn(_facts: object, message: string): void {
      this.lines.push(`warn ${message}`);
    }
    error(facts: object, message: string): void {
      this.lines.push(`error ${message} ${JSON.stringify(facts)}`);
    }
  }
  const given = new Lines();
  const logger = checkLogger(given);
  logger.debug({}, 'a');
  logger.info({}, 'b');
  logger.warn({}, 'c');
  logger.error({ epoch: 7 }, 'd');
  expect(given.lines).toEqual(['debug a', 'info b', 'warn c', 'error d {"epoch":7}']);
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a function', nothing],
  ['an empty object', {}],
  ['text', 'pino'],
])('%s is no logger, and the message says what to pass', (_what, value) => {
  expect(invalidMessage(() => checkLogger(value))).toMatch(/pino\(\).*lacks debug, info, warn, error/);
});

test('only what is missing is named', () => {
  const message = invalidMessage(() => checkLogger({ info: nothing, error: nothing, warn: 3 }));
  expect(message).toContain('an object lacks debug, warn');
});

test('S12: a logger that throws disturbs nobody', () => {
  const broken = (): void => {
    throw new Error('disk full');
  };
  const logger = checkLogger({ debug: broken, info: broken, warn: broken, error: broken } satisfies Logger);
  expect(() => {
    logger.debug({}, 'a');
    logger.info({}, 'a');
    logger.warn({}, 'a');
    logger.error({}, 'a');
  }).not.toThrow();
});

test('the silent logger says nothing and passes the check', () => {
  expect(() => checkLogger(silentLogger).error({}, 'unheard')).not.toThrow();
});
