/** Lab's Markdown for agents' text: highlighted, with diagrams, sanitised further. */

import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { withSafeDiagrams } from './diagrams';
import type { Draw } from './HostText';

const MARKDOWN = 'text/markdown';
/** Attributes that could move text over a button, or run a Lab command on click. */
const BEYOND_TEXT = /^(style|data-commandlinker.*)$/;
const CONTROLS = 'button, input, select, option, textarea, form, fieldset, label, dialog';
/** Classes of our own buttons and cards. */
const OUR_LOOK = /^(cw|cowork)-/;

export function labMarkdown(rendermime: IRenderMimeRegistry): Draw {
  let own: IRenderMimeRegistry | null = null;
  return async (source, node) => {
    // Cloned on first use, with everything other extensions have registered by then.
    own ??= rendermime.clone({ sanitizer: hardenSanitizer(rendermime.sanitizer) });
    const renderer = own.createRenderer(MARKDOWN);
    await renderer.renderModel(
      own.createModel({
        data: { [MARKDOWN]: withSafeDiagrams(htmlAsText(source)) },
        trusted: false
      })
    );
    node.replaceChildren(renderer.node);
    own.latexTypesetter?.typeset(node);
  };
}

/**
 * Lab's sanitiser, hardened: no controls, nothing that looks like ours. Image URLs are requested on
 * rendering and could leak what the agent has read, so only data URLs (Lab's diagrams) are kept;
 * other images become links.
 */
export function hardenSanitizer(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    ...(sanitizer.allowNamedProperties === undefined
      ? {}
      : { allowNamedProperties: sanitizer.allowNamedProperties }),
    getAutolink: () => sanitizer.getAutolink?.() ?? true,
    sanitize: (dirty, options) => {
      // A parsed document loads nothing.
      const page = new DOMParser().parseFromString(sanitizer.sanitize(dirty, options), 'text/html');
      for (const media of page.querySelectorAll('img, audio, video, source, picture, svg image')) {
        const address = media.getAttribute('src') ?? '';
        if (
          media.localName !== 'img' ||
          !/^data:image\//.test(address) ||
          media.hasAttribute('srcset')
        ) {
          media.replaceWith(linkTo(page, address, media.getAttribute('alt') ?? ''));
        }
      }
      // Only our own controls may be clickable.
      for (const control of page.querySelectorAll(CONTROLS)) {
        const isTicked = control.hasAttribute('checked');
        control.replaceWith(
          ...(control.getAttribute('type') === 'checkbox'
            ? [isTicked ? '☑ ' : '☐ ']
            : control.childNodes)
        );
      }
      for (const element of page.body.querySelectorAll('*')) {
        for (const name of [...element.classList].filter(one => OUR_LOOK.test(one))) {
          element.classList.remove(name);
        }
        for (const name of element.getAttributeNames().filter(one => BEYOND_TEXT.test(one))) {
          element.removeAttribute(name);
        }
      }
      return page.body.innerHTML;
    }
  };
}

function linkTo(page: Document, address: string, words: string): HTMLElement {
  const link = page.createElement('a');
  link.textContent = words || address;
  if (/^https?:\/\//.test(address)) {
    link.href = address;
    link.rel = 'noopener noreferrer';
    link.target = '_blank';
  }
  return link;
}

/**
 * Escapes `<` outside of code, so that HTML is shown as text. The sanitiser is the security
 * boundary; this is for readability.
 */
export function htmlAsText(source: string): string {
  let fence = '';
  return source
    .split('\n')
    .map(line => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (mark && (fence === '' || mark.startsWith(fence))) {
        fence = fence === '' ? mark : '';
        return line;
      }
      return fence === ''
        ? line.replace(/(`+)(?:(?!`).)*\1|</g, found => (found === '<' ? '&lt;' : found))
        : line;
    })
    .join('\n');
}
