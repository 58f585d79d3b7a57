// Prints every message of the browser side as JSON: `{"text": ["text"], "one": ["one", "many"]}`.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const found = {};
const problems = [];

// The constants that an expression can be; null when it is something else.
function constants(node) {
  if (ts.isStringLiteralLike(node)) {
    return [node.text];
  }
  if (ts.isParenthesizedExpression(node)) {
    return constants(node.expression);
  }
  if (ts.isConditionalExpression(node)) {
    const [one, other] = [constants(node.whenTrue), constants(node.whenFalse)];
    return one && other && [...one, ...other];
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [constants(node.left), constants(node.right)];
    return left?.length === 1 && right?.length === 1 ? [left[0] + right[0]] : null;
  }
  return null;
}

function add(forms, place) {
  const [key] = forms;
  if (found[key] && found[key].length !== forms.length) {
    problems.push(`${place}: "${key}" stands both alone and with a plural.`);
  }
  found[key] = forms;
}

function visit(node, file) {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    const place = `${file.fileName}:${line + 1}`;
    const [first, second, third] = node.arguments;
    const name = node.expression.text;
    if (name === 't' || name === 'msg') {
      const texts = constants(first);
      texts?.forEach(text => add([text], place));
      if (!texts) {
        problems.push(`${place}: ${name}() needs a constant text; otherwise use translateKnown().`);
      }
    } else if (name === 'counted') {
      const [one, many] = [constants(second), constants(third)];
      if (one?.length === 1 && many?.length === 1) {
        add([one[0], many[0]], place);
      } else {
        problems.push(`${place}: counted() takes constant texts.`);
      }
    }
  }
  ts.forEachChild(node, child => visit(child, file));
}

for (const name of readdirSync('src', { recursive: true }).sort()) {
  const path = `src/${name}`;
  if (/\.tsx?$/.test(name) && !/shared.(schema|text.translate)\.ts/.test(name)) {
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022);
    visit(file, file);
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
console.log(JSON.stringify(found));
