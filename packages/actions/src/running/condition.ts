/** An `if` that cannot be evaluated. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
}

type Value = boolean | number | string | null;

const notBoolean = "hook 'if' expression should evaluate to a boolean";
const tokenPattern = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|("[^"]*"|'[^']*')|(&&|\|\||==|!=|[-+!()?:,]))/y;

/**
 * Whether a hook is to run. `success()` means that no earlier hook of its action failed, `failure()` that one did.
 * Without an expression it runs after success. Throws `ConditionError`.
 */
export function evaluateCondition(expression: string, hasFailed: boolean): boolean {
  if (expression.trim() === '') return !hasFailed;
  const value = new Evaluation(expression, hasFailed).value();
  if (typeof value !== 'boolean') throw new ConditionError(notBoolean);
  return value;
}

/** Conditions are short: deeper nesting is a mistake, or somebody at work. */
const maxDepth = 100;

class Evaluation {
  readonly #tokens: readonly string[];
  readonly #hasFailed: boolean;
  #at = 0;
  #depth = 0;

  constructor(expression: string, hasFailed: boolean) {
    this.#tokens = tokensOf(expression);
    this.#hasFailed = hasFailed;
  }

  value(): Value {
    const value = this.#choice();
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw new ConditionError(`unexpected token ${rest}`);
    return value;
  }

  #choice(): Value {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new ConditionError('the expression is nested too deep');
    const condition = this.#or();
    let value = condition;
    if (this.#take('?')) {
      const chosen = asBoolean(condition, '?');
      const [yes] = [this.#choice(), this.#expect(':')];
      const no = this.#choice();
      value = chosen ? yes : no;
    }
    this.#depth -= 1;
    return value;
  }

  #or(): Value {
    let value = this.#and();
    for (let sign = this.#take('||', 'or'); sign; sign = this.#take('||', 'or')) {
      const right = this.#and();
      value = asBoolean(value, '||') || asBoolean(right, '||');
    }
    return value;
  }

  #and(): Value {
    let value = this.#equality();
    for (let sign = this.#take('&&', 'and'); sign; sign = this.#take('&&', 'and')) {
      const right = this.#equality();
      value = asBoolean(value, '&&') && asBoolean(right, '&&');
    }
    return value;
  }

  #equality(): Value {
    let value = this.#sum();
    for (;;) {
      if (this.#take('==')) value = value === this.#sum();
      else if (this.#take('!=')) value = value !== this.#sum();
      else return value;
    }
  }

  #sum(): Value {
    let value = this.#unary();
    for (;;) {
      if (this.#take('+')) value = asNumber(value, '+') + asNumber(this.#unary(), '+');
      else if (this.#take('-')) value = asNumber(value, '-') - asNumber(this.#unary(), '-');
      else return value;
    }
  }

  #unary(): Value {
    let negations = 0;
    while (this.#take('!', 'not')) negations += 1;
    if (negations > 0) return asBoolean(this.#unary(), '!') === (negations % 2 === 0);
    if (this.#take('-')) return -asNumber(this.#primary(), '-');
    return this.#primary();
  }

  #primary(): Value {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token === undefined) throw new ConditionError('unexpected end of the expression');
    if (token === '(') {
      const value = this.#choice();
      this.#expect(')');
      return value;
    }
    if (/^\d/.test(token)) return Number(token);
    if (/^["']/.test(token)) return token.slice(1, -1);
    if (token === 'true' || token === 'false') return token === 'true';
    if (token === 'nil') return null;
    if (!/^\w/.test(token)) throw new ConditionError(`unexpected token ${token}`);
    return this.#call(token);
  }

  #call(name: string): Value {
    if (name !== 'success' && name !== 'failure' && name !== 'always')
      throw new ConditionError(`unknown name ${name}`);
    this.#expect('(');
    this.#expect(')');
    if (name === 'always') return true;
    return (name === 'failure') === this.#hasFailed;
  }

  #take(...tokens: readonly string[]): boolean {
    const isNext = tokens.includes(this.#tokens[this.#at] ?? '');
    if (isNext) this.#at += 1;
    return isNext;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new ConditionError(`expected ${token}`);
  }
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trim();
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex;
    const found = tokenPattern.exec(text);
    if (found === null) throw new ConditionError(`unexpected character ${JSON.stringify(text[at])}`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

function asBoolean(value: Value, sign: string): boolean {
  if (typeof value !== 'boolean') throw new ConditionError(`${sign} needs boolean values`);
  return value;
}

function asNumber(value: Value, sign: string): number {
  if (typeof value !== 'number') throw new ConditionError(`${sign} needs numbers`);
  return value;
}
