/** The language of Lab, with our own translations where we bring them. */

import { Gettext, type IJsonData, type ITranslator } from '@jupyterlab/translation';

import type { Translation } from '../../shared/text/translate';

const DOMAIN = 'cowork_jupyter';

/** By language; each is fetched only by pages that speak it. */
const CATALOGUES: Record<string, () => Promise<{ default: unknown }>> = {
  de: () => import('./de.json')
};

/**
 * Lab asks its language packs only for languages that one is installed for, and no pack knows us;
 * so what we bring ourselves goes first. Another language is whatever Lab has for it.
 */
export async function loadTranslation(translator: ITranslator): Promise<Translation> {
  const [language = ''] = translator.languageCode.split('-');
  const bring = Object.hasOwn(CATALOGUES, language) ? CATALOGUES[language] : undefined;
  try {
    const catalogue = (await bring?.())?.default;
    if (catalogue) {
      const own = new Gettext({ domain: DOMAIN, locale: language });
      own.loadJSON(catalogue as IJsonData, DOMAIN);
      return own;
    }
  } catch (error) {
    console.warn('Cowork speaks English, as its translation does not load.', error);
  }
  return translator.load(DOMAIN);
}
