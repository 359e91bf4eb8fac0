"""Hosts of their own on this machine, as far as files go: a mount namespace in which /usr, /etc and
dpkg's database are this machine's with the host's own changes laid over them. What is installed
there is installed nowhere else."""
import os
import subprocess

OVERLAID = ("/usr", "/etc", "/var/lib/dpkg")


class Host:
    def __init__(self, folder):
        self.holder = None
        mounts = ""
        for path in OVERLAID:
            layer = os.path.join(folder, path.strip("/").replace("/", "-"))
            for name in ("up", "work"):
                os.makedirs(os.path.join(layer, name))
            mounts += (f"mount -t overlay -o lowerdir={path},upperdir={layer}/up,"
                       f"workdir={layer}/work overlay {path}\n")
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "bash", "-c",
             f"set -e\n{mounts}echo up\nexec sleep infinity"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline().strip() != "up":
            self.holder.wait()
            raise OSError("no host: " + self.holder.stderr.read().strip())

    def words(self):
        """What to put before a command to run it there."""
        return ["nsenter", "--mount", "--root", f"--target={self.holder.pid}", "--"]

    def run(self, *argv, check=True, env=None):
        done = subprocess.run([*self.words(), *argv], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              env={**os.environ, "DEBIAN_FRONTEND": "noninteractive",
                                   **(env or {})})
        if check and done.returncode:
            raise OSError(f"{' '.join(argv)} exited {done.returncode}: {done.stdout}")
        return done.stdout

    def end(self):
        if self.holder and self.holder.poll() is None:
            self.holder.kill()
            self.holder.wait()
