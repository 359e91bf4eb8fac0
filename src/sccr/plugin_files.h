/*
 * plugin_files - whether slurmctld would load our plugins where slurm.conf's PluginDir has them
 *
 * slurmctld takes the first file of a plugin's name that fits its version, and says little or
 * nothing of those that it passes over. Whoever installs may look before it starts.
 */
#ifndef SCCR_PLUGIN_FILES_H
#define SCCR_PLUGIN_FILES_H

#include <stdint.h>

#include "sccr/sim_cluster.h"

enum plugin_state {
	PLUGIN_NONE,	/* no such file, or it is not to be read by this user */
	PLUGIN_DAMAGED, /* no plugin: cut short, or something else */
	PLUGIN_STOCK,
	PLUGIN_OURS,
};

/* Looks into the file of a plugin, which is not loaded. version (may be NULL): its Slurm's, as
 * SLURM_VERSION_NUMBER has it; 0 where it is not known. */
enum plugin_state plugin_file_read(const char *path, uint32_t *version);

/*
 * Warns of what keeps slurmctld from our plugins: another one first in PluginDir, a damaged file, a
 * file for another Slurm than the stock plugin there. Nothing where PluginDir is not set.
 */
void plugin_files_warn(const struct sim_cluster *settings);

#endif
