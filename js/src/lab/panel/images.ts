/** Images attached to a message: read, downscaled, and kept until it is sent. */

import { useState } from 'preact/hooks';

import { CoworkError } from '../../shared/channel/channel';
import { t } from '../../shared/text/translate';

export interface Picture {
  media_type: string;
  /** Base64. */
  data: string;
}

export interface Pictures {
  items: readonly Picture[];
  /** Why the last image was refused. */
  error: unknown;
  add(files: readonly File[]): Promise<void>;
  remove(picture: Picture): void;
  clear(): void;
}

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const MAX_IMAGES = 4;
const MAX_BYTES = 5_000_000;
/** Total size limit of a request, in base64 characters. */
const MAX_TOTAL = 5_800_000;
const MAX_SIDE = 1600;

export function usePictures(): Pictures {
  const [items, setItems] = useState<readonly Picture[]>([]);
  const [error, setError] = useState<unknown>(null);
  return {
    items,
    error,
    add: async files => {
      setError(null);
      try {
        const made = await Promise.all(files.map(pictureOf));
        setItems(before => {
          const all = [...before, ...made];
          const size = all.reduce((sum, { data }) => sum + bytesOf(data), 0);
          if (all.length > MAX_IMAGES || size > MAX_TOTAL) {
            setError(
              refusal(t('A message can have at most %1 images, 5 MB in total.', String(MAX_IMAGES)))
            );
            return before;
          }
          return all;
        });
      } catch (reason) {
        setError(reason);
      }
    },
    remove: picture => setItems(before => before.filter(one => one !== picture)),
    clear: () => {
      setItems([]);
      setError(null);
    }
  };
}

/** Images in pasted or dropped data. */
export function imagesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
}

/** Downscales large images. */
async function pictureOf(file: File): Promise<Picture> {
  if (!TYPES.includes(file.type)) {
    throw refusal(t('Only PNG, JPEG, WebP and GIF images can be sent.'));
  }
  const shrunk = file.type === 'image/gif' ? null : await shrink(file);
  const picture = shrunk ?? file;
  if (picture.size > MAX_BYTES) {
    throw refusal(t('This image is larger than 5 MB. Make it smaller first.'));
  }
  return { media_type: picture.type, data: await base64(picture) };
}

async function shrink(file: File): Promise<Blob | null> {
  const image = await createImageBitmap(file).catch(() => null);
  if (image === null) {
    throw refusal(t('This image cannot be read.'));
  }
  const scale = MAX_SIDE / Math.max(image.width, image.height);
  if (scale >= 1) {
    image.close();
    return null;
  }
  const canvas = new OffscreenCanvas(
    Math.round(image.width * scale),
    Math.round(image.height * scale)
  );
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  return canvas.convertToBlob({ type: file.type, quality: 0.9 });
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

function bytesOf(data: string): number {
  return (data.length / 4) * 3;
}

function refusal(message: string): CoworkError {
  return new CoworkError({ code: 'bad_picture', message });
}
