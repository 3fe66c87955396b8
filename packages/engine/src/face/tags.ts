import type { Actor, Forceable, InRepository, Page, PageRequest, Ref } from './model.ts';

export interface Tags {
  create(
    options: InRepository & Forceable & { readonly id: string; readonly ref: string; readonly actor: Actor },
  ): Promise<Ref>;
  get(options: InRepository & { readonly id: string }): Promise<Ref>;
  /** Only those whose names contain `search`. */
  list(options: InRepository & PageRequest & { readonly search?: string | undefined }): Promise<Page<Ref>>;
  delete(options: InRepository & Forceable & { readonly id: string; readonly actor: Actor }): Promise<void>;
}
